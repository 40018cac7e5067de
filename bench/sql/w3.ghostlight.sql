CREATE TABLE history
(
    transaction_id int NOT NULL PRIMARY KEY CLUSTERED,
    product_id int NOT NULL,
    happened datetime NOT NULL,
    quantity int NOT NULL,
    cost decimal(19, 4) NOT NULL
);
CREATE TABLE other (id int NOT NULL PRIMARY KEY CLUSTERED, v int NOT NULL);
INSERT other VALUES (1, 42);
GO
INSERT history
SELECT value, value % 1000, DATEADD(minute, value, CAST('20100101' AS datetime)), value % 100, value % 977
FROM GENERATE_SERIES(1, {n});
GO
