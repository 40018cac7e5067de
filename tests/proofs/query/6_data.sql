-- Twelve tables of a chain of shops: sizes from 60 rows to 400,000, some columns even, others so
-- skewed that a hundredth of the values has a fifth of the rows.
CREATE DATABASE Shops;
GO
USE Shops;
GO
SET NOCOUNT ON;
CREATE TABLE N (n int NOT NULL PRIMARY KEY, u float NOT NULL, v float NOT NULL, w float NOT NULL);
INSERT N
SELECT n, (n * CAST(7919 AS bigint) % 400009) / 400009.0, (n * CAST(104729 AS bigint) % 399989) / 399989.0,
    (n * CAST(15485863 AS bigint) % 399983) / 399983.0
FROM (SELECT TOP (400000) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS n
    FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b) AS numbers;
GO
CREATE TABLE Country (id int NOT NULL PRIMARY KEY, zone int NOT NULL, name varchar(30) NOT NULL);
CREATE TABLE City (id int NOT NULL PRIMARY KEY, country_id int NOT NULL, people int NOT NULL, name varchar(30) NOT NULL);
CREATE TABLE Customer (id int NOT NULL PRIMARY KEY, city_id int NOT NULL, segment int NOT NULL, born date NOT NULL, rating int NULL, name varchar(40) NOT NULL);
CREATE TABLE Shop (id int NOT NULL PRIMARY KEY, city_id int NOT NULL, area int NOT NULL);
CREATE TABLE Brand (id int NOT NULL PRIMARY KEY, country_id int NOT NULL, name varchar(30) NOT NULL);
CREATE TABLE Category (id int NOT NULL PRIMARY KEY, branch int NOT NULL);
CREATE TABLE Product (id int NOT NULL PRIMARY KEY, brand_id int NOT NULL, category_id int NOT NULL, price decimal(9,2) NOT NULL, weight int NULL);
CREATE TABLE Employee (id int NOT NULL PRIMARY KEY, shop_id int NOT NULL, role int NOT NULL);
CREATE TABLE Purchase (id int NOT NULL PRIMARY KEY, customer_id int NOT NULL, shop_id int NOT NULL, employee_id int NOT NULL, placed date NOT NULL, status char(1) NOT NULL);
CREATE TABLE Line (purchase_id int NOT NULL, n int NOT NULL, product_id int NOT NULL, quantity int NOT NULL, discount int NOT NULL, CONSTRAINT PK_Line PRIMARY KEY (purchase_id, n));
CREATE TABLE Payment (id int NOT NULL PRIMARY KEY, purchase_id int NOT NULL, kind int NOT NULL, amount decimal(11,2) NOT NULL);
CREATE TABLE Review (id int NOT NULL PRIMARY KEY, product_id int NOT NULL, customer_id int NOT NULL, stars int NOT NULL);
GO
INSERT Country SELECT n, n % 5, CONCAT('country ', n) FROM N WHERE n <= 100;
INSERT City SELECT n, 1 + CAST(100 * u * u * u AS int), CAST(1000 / (v + 0.0005) AS int), CONCAT(CHAR(65 + n % 26), 'ville ', n) FROM N WHERE n <= 2000;
INSERT Customer SELECT n, 1 + CAST(2000 * u * u AS int), CAST(5 * v * v AS int), DATEADD(day, CAST(20000 * w AS int), '19400101'), NULLIF(CAST(11 * v AS int), 10), CONCAT(CHAR(65 + CAST(26 * w * w AS int)), CHAR(97 + n % 26), ' customer ', n) FROM N WHERE n <= 40000;
INSERT Shop SELECT n, 1 + CAST(2000 * u * u AS int), CAST(5000 * v AS int) FROM N WHERE n <= 500;
INSERT Brand SELECT n, 1 + CAST(100 * v * v AS int), CONCAT('brand ', n) FROM N WHERE n <= 300;
INSERT Category SELECT n, n % 7 FROM N WHERE n <= 60;
INSERT Product SELECT n, 1 + CAST(300 * u * u * u AS int), 1 + CAST(60 * v * v AS int), CAST(1 + 500 * w * w AS decimal(9,2)), NULLIF(CAST(40 * v AS int), 7) FROM N WHERE n <= 10000;
INSERT Employee SELECT n, 1 + CAST(500 * v AS int), CAST(8 * u * u AS int) FROM N WHERE n <= 3000;
INSERT Purchase SELECT n, 1 + CAST(40000 * u * u * u AS int), 1 + CAST(500 * v * v AS int), 1 + CAST(3000 * w AS int), DATEADD(day, CAST(2000 * SQRT(w) AS int), '20180101'), CHAR(65 + CAST(6 * v * v * v AS int)) FROM N WHERE n <= 150000;
INSERT Line SELECT 1 + n % 150000, 1 + n / 150000, 1 + CAST(10000 * u * u * u * u AS int), 1 + CAST(50 * v AS int), CAST(11 * w * w AS int) FROM N;
INSERT Payment SELECT n, 1 + CAST(150000 * v AS int), CAST(4 * u * u AS int), CAST(1 + 900 * w AS decimal(11,2)) FROM N WHERE n <= 140000;
INSERT Review SELECT n, 1 + CAST(10000 * v * v * v AS int), 1 + CAST(40000 * u * u AS int), 1 + CAST(5 * SQRT(w) AS int) FROM N WHERE n <= 60000;
GO
CREATE INDEX IX_City ON City (country_id);
CREATE INDEX IX_Customer ON Customer (city_id);
CREATE INDEX IX_Product ON Product (brand_id);
CREATE INDEX IX_Employee ON Employee (shop_id);
CREATE INDEX IX_Purchase_Customer ON Purchase (customer_id);
CREATE INDEX IX_Purchase_Placed ON Purchase (placed);
CREATE INDEX IX_Line ON Line (product_id);
CREATE INDEX IX_Payment ON Payment (purchase_id);
CREATE INDEX IX_Review ON Review (product_id);
GO
CREATE STATISTICS s1 ON Country (zone) WITH FULLSCAN;
CREATE STATISTICS s1 ON City (people) WITH FULLSCAN;
CREATE STATISTICS s2 ON City (name) WITH FULLSCAN;
CREATE STATISTICS s1 ON Customer (segment) WITH FULLSCAN;
CREATE STATISTICS s2 ON Customer (born) WITH FULLSCAN;
CREATE STATISTICS s3 ON Customer (rating) WITH FULLSCAN;
CREATE STATISTICS s4 ON Customer (name) WITH FULLSCAN;
CREATE STATISTICS s1 ON Shop (city_id) WITH FULLSCAN;
CREATE STATISTICS s2 ON Shop (area) WITH FULLSCAN;
CREATE STATISTICS s1 ON Brand (country_id) WITH FULLSCAN;
CREATE STATISTICS s1 ON Category (branch) WITH FULLSCAN;
CREATE STATISTICS s1 ON Product (category_id) WITH FULLSCAN;
CREATE STATISTICS s2 ON Product (price) WITH FULLSCAN;
CREATE STATISTICS s3 ON Product (weight) WITH FULLSCAN;
CREATE STATISTICS s1 ON Employee (role) WITH FULLSCAN;
CREATE STATISTICS s1 ON Purchase (shop_id) WITH FULLSCAN;
CREATE STATISTICS s2 ON Purchase (employee_id) WITH FULLSCAN;
CREATE STATISTICS s3 ON Purchase (status) WITH FULLSCAN;
CREATE STATISTICS s1 ON Line (quantity) WITH FULLSCAN;
CREATE STATISTICS s2 ON Line (discount) WITH FULLSCAN;
CREATE STATISTICS s1 ON Payment (kind) WITH FULLSCAN;
CREATE STATISTICS s2 ON Payment (amount) WITH FULLSCAN;
CREATE STATISTICS s1 ON Review (customer_id) WITH FULLSCAN;
CREATE STATISTICS s2 ON Review (stars) WITH FULLSCAN;
GO
