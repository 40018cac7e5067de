CREATE TABLE person
(
    person_id int IDENTITY NOT NULL PRIMARY KEY CLUSTERED,
    family_name varchar(25) NOT NULL,
    given_name varchar(20) NOT NULL,
    is_member bit NOT NULL,
    born date NOT NULL,
    street varchar(48) NOT NULL,
    town varchar(30) NOT NULL,
    post_code varchar(10) NOT NULL,
    country char(2) NOT NULL,
    phone varchar(16) NULL,
    mail varchar(48) NULL,
    INDEX person_name (family_name, given_name),
    INDEX person_born (born),
    INDEX person_place (country, town),
    INDEX person_phone (phone),
    INDEX person_mail (mail)
);
GO
CREATE PROCEDURE add_persons @count int AS
SET NOCOUNT ON;
WHILE @count > 0
BEGIN
    INSERT person (family_name, given_name, is_member, born, street, town, post_code, country, phone, mail)
    VALUES
    (
        CONCAT('LN', CAST(10000 * RAND() AS int)),
        CONCAT('FN', CAST(10000 * RAND() AS int)),
        CAST(2 * RAND() AS int),
        DATEADD(day, CAST(-10000 * RAND() AS int), '20260101'),
        CONCAT('SA', CAST(10000000 * RAND() AS int)),
        CONCAT('CI', CAST(100 * RAND() AS int)),
        CONCAT('PC', CAST(1000 * RAND() AS int)),
        CONCAT('C', CAST(10 * RAND() AS int)),
        CONCAT('PN', CAST(10000000 * RAND() AS int)),
        CONCAT('EM', CAST(10000000 * RAND() AS int))
    );
    SET @count -= 1;
END
GO
BEGIN TRANSACTION;
EXEC add_persons 100000;
COMMIT TRANSACTION;
GO
