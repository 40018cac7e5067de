SET NOCOUNT ON;
GO
-- Kana type and width count where the name says so.
CREATE TABLE j (a nvarchar(10), b nvarchar(10));
INSERT j VALUES (N'あ', N'ア'), (N'ア', N'ｱ'), (N'ａ', N'a'), (N'Ａ', N'a'), (N'は', N'ぱ'), (N'か', N'が'), (N'ガ', N'ｶﾞ');
SELECT a, b,
    CASE WHEN a = b COLLATE Japanese_CI_AS THEN 1 ELSE 0 END AS ci_as,
    CASE WHEN a = b COLLATE Japanese_CI_AI THEN 1 ELSE 0 END AS ci_ai,
    CASE WHEN a = b COLLATE Japanese_CI_AS_KS THEN 1 ELSE 0 END AS ks,
    CASE WHEN a = b COLLATE Japanese_CI_AS_WS THEN 1 ELSE 0 END AS ws,
    CASE WHEN a = b COLLATE Japanese_CI_AS_KS_WS THEN 1 ELSE 0 END AS ks_ws,
    CASE WHEN a = b COLLATE Japanese_CS_AS THEN 1 ELSE 0 END AS cs_as,
    CASE WHEN a = b COLLATE Japanese_XJIS_140_CS_AS_KS_WS_VSS THEN 1 ELSE 0 END AS all_of_it,
    CASE WHEN a = b COLLATE Japanese_BIN2 THEN 1 ELSE 0 END AS bin2
FROM j;
SELECT CASE WHEN N'葛' + NCHAR(0xFE00) = N'葛' COLLATE Japanese_XJIS_140_CI_AS THEN 1 ELSE 0 END AS without,
    CASE WHEN N'葛' + NCHAR(0xFE00) = N'葛' COLLATE Japanese_XJIS_140_CI_AS_VSS THEN 1 ELSE 0 END AS vss;
CREATE TABLE k (a varchar(20) COLLATE Japanese_CI_AS CONSTRAINT pk_k PRIMARY KEY);
INSERT k VALUES (N'アメリカ'), (N'いぬ'), (N'かめ'), (N'亜鉛'), (N'ねこ'), (N'abc'), (N'１２');
SELECT a FROM k ORDER BY a;
SELECT a FROM k WHERE a = N'ｱﾒﾘｶ';
INSERT k VALUES (N'ＡＢＣ');
GO
SELECT COUNT(DISTINCT a COLLATE Japanese_CI_AS_KS_WS) AS n FROM (VALUES (N'あ'), (N'ア'), (N'ｱ'), (N'あ')) AS t (a);
SELECT COUNT(DISTINCT a COLLATE Japanese_CI_AS) AS n FROM (VALUES (N'あ'), (N'ア'), (N'ｱ'), (N'あ')) AS t (a);
GO
