-- A new database for the one-row story.
CREATE DATABASE OneRow;
GO
USE OneRow;
GO
