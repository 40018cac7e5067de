SET NOCOUNT ON;
GO
SELECT UPPER(N'iı' COLLATE Turkish_CI_AS) AS u, LOWER(N'Iİ' COLLATE Turkish_CI_AS) AS l,
    UPPER(N'iı' COLLATE Latin1_General_CI_AS) AS u1, LOWER(N'I' COLLATE Latin1_General_CI_AS) AS l1,
    UPPER(N'i' COLLATE Azeri_Latin_100_CI_AS) AS az;
SELECT CASE WHEN N'I' = N'i' COLLATE Turkish_CI_AS THEN 1 ELSE 0 END AS tr, CASE WHEN N'İ' = N'i' COLLATE Turkish_CI_AS THEN 1 ELSE 0 END AS dotted,
    CASE WHEN N'I' = N'ı' COLLATE Turkish_CI_AS THEN 1 ELSE 0 END AS dotless, CASE WHEN N'I' = N'i' COLLATE Latin1_General_CI_AS THEN 1 ELSE 0 END AS latin;
CREATE TABLE t (a varchar(10) COLLATE Turkish_CI_AS);
INSERT t VALUES (N'ılık'), (N'ilk'), (N'IĞDIR'), (N'İZMİR'), (N'hız'), (N'jet'), (N'şah'), (N'sal'), (N'tas');
SELECT a, UPPER(a) AS u, LOWER(a) AS l FROM t ORDER BY a;
SELECT a FROM t WHERE a LIKE 'i%' ORDER BY a;
SELECT a FROM t WHERE a LIKE N'ı%' ORDER BY a;
SELECT a FROM t WHERE a LIKE 'I%' ORDER BY a;
SELECT a FROM t WHERE CHARINDEX('i', a) > 0 ORDER BY a;
GO
