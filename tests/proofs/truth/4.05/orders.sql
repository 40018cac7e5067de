SET NOCOUNT ON;
GO
-- Words as the dictionaries of their languages have them.
CREATE TABLE w (family varchar(20), word nvarchar(20));
INSERT w VALUES
    ('swedish', N'öl'), ('swedish', N'zon'), ('swedish', N'åka'), ('swedish', N'ärlig'),
    ('danish', N'århus'), ('danish', N'zebra'), ('danish', N'øl'), ('danish', N'æble'),
    ('spanish', N'llama'), ('spanish', N'lunes'), ('spanish', N'ñandú'), ('spanish', N'nube'),
    ('spanish', N'ocho'), ('spanish', N'chico'), ('spanish', N'cura'), ('spanish', N'dedo'),
    ('czech', N'chata'), ('czech', N'cibule'), ('czech', N'čaj'), ('czech', N'had'), ('czech', N'ihned'),
    ('french', N'côté'), ('french', N'cote'), ('french', N'coté'), ('french', N'côte'),
    ('greek', N'ωμέγα'), ('greek', N'άλφα'), ('greek', N'βήτα'), ('greek', N'zeta'),
    ('russian', N'ёж'), ('russian', N'яма'), ('russian', N'еда'), ('russian', N'жук'), ('russian', N'zoo'),
    ('hebrew', N'בית'), ('hebrew', N'אבא'), ('hebrew', N'a'),
    ('thai', N'เก'), ('thai', N'ข'), ('thai', N'ก'), ('thai', N'z'),
    ('estonian', N'tamm'), ('estonian', N'zoo'), ('estonian', N'suur'), ('estonian', N'õun'),
    ('lithuanian', N'yra'), ('lithuanian', N'jis'), ('lithuanian', N'ilgas'),
    ('chinese', N'中'), ('chinese', N'阿'), ('chinese', N'北'), ('chinese', N'z'),
    ('strokes', N'中'), ('strokes', N'一'), ('strokes', N'人'), ('strokes', N'z'),
    ('korean', N'하'), ('korean', N'가'), ('korean', N'나'), ('korean', N'z');
GO
CREATE FUNCTION of_family (@f varchar(20)) RETURNS TABLE AS
RETURN SELECT word FROM w WHERE family = @f;
GO
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Finnish_Swedish_CI_AS) AS swedish FROM of_family('swedish');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Danish_Norwegian_CI_AS) AS danish FROM of_family('danish');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Modern_Spanish_CI_AS) AS modern FROM of_family('spanish');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Traditional_Spanish_CI_AS) AS traditional FROM of_family('spanish');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Czech_CI_AS) AS czech FROM of_family('czech');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE French_CI_AS) AS french FROM of_family('french');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Latin1_General_100_CI_AS) AS latin FROM of_family('french');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Greek_CI_AS) AS greek FROM of_family('greek');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Cyrillic_General_CI_AS) AS russian FROM of_family('russian');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Hebrew_CI_AS) AS hebrew FROM of_family('hebrew');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Thai_CI_AS) AS thai FROM of_family('thai');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Estonian_CI_AS) AS estonian FROM of_family('estonian');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Lithuanian_CI_AS) AS lithuanian FROM of_family('lithuanian');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Chinese_PRC_CI_AS) AS pinyin FROM of_family('chinese');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Chinese_PRC_Stroke_CI_AS) AS strokes FROM of_family('strokes');
SELECT STRING_AGG(word, N' ') WITHIN GROUP (ORDER BY word COLLATE Korean_Wansung_CI_AS) AS korean FROM of_family('korean');
GO
-- A table of such a column: its own order, groups, least and greatest.
CREATE TABLE c (word nvarchar(20) COLLATE Czech_CI_AI);
INSERT c SELECT word FROM w WHERE family = 'czech' UNION ALL SELECT UPPER(word) FROM w WHERE family = 'czech';
SELECT word, COUNT(*) AS n FROM c GROUP BY word HAVING COUNT(*) > 1 ORDER BY word DESC;
SELECT MIN(word) AS least, MAX(word) AS greatest FROM c WHERE word < 'i';
GO
