SET NOCOUNT ON
GO
set nocount on; create table n (i int null, b bit null, d decimal(9, 2) null, s varchar(20) null, w datetime null); insert n select value, value % 2, value / 4.0, concat('K', value), dateadd(day, value, '2020-01-01') from generate_series(1, 3000); insert n (i) values (null)
GO
declare @l nvarchar(max) = (select string_agg(cast(value * 3 as nvarchar(max)), ',') from generate_series(1, 2000)); declare @q nvarchar(max) = concat(N'select (select count(*) from n where i in (', @l, N')), (select count(*) from n where i not in (', @l, N')), (select count(*) from n where not i in (', @l, N', null)), (select count(*) from n where i not in (', @l, N', null)), (select count(*) from n where i in (', @l, N', null))'); exec (@q)
GO
declare @l nvarchar(max) = (select string_agg(cast(concat('''k', value * 3, ' ''') as nvarchar(max)), ',') from generate_series(1, 2000)); declare @q nvarchar(max) = concat(N'select (select count(*) from n where s in (', @l, N')), (select count(*) from n where s not in (', @l, N')), (select count(*) from n where s not in (', @l, N', null)), (select count(*) from n where s collate latin1_general_bin2 in (', @l, N'))'); exec (@q)
GO
declare @l nvarchar(max) = (select string_agg(cast(value / 2.0 as nvarchar(max)), ',') from generate_series(1, 400)); declare @q nvarchar(max) = concat(N'select (select count(*) from n where d in (', @l, N')), (select count(*) from n where d not in (', @l, N')), (select count(*) from n where d in (', @l, N', i))'); exec (@q)
GO
declare @l nvarchar(max) = (select string_agg(cast(concat('''', convert(char(8), dateadd(day, value * 2, '2020-01-01'), 112), '''') as nvarchar(max)), ',') from generate_series(1, 100)); declare @q nvarchar(max) = concat(N'select (select count(*) from n where w in (', @l, N')), (select count(*) from n where w not in (', @l, N'))'); exec (@q)
GO
select count(*) from n where b in (1, 0); select count(*) from n where b not in (1); select count(*) from n where i not in (null); select count(*) from n where i in (null)
GO
select count(*) from n where i + 0 not in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, i - 1); select count(*) from n where i + 0 in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, i)
GO
create index ii on n (i); select count(*) from n where i in (5, 5, 7, 3000, null, 4000); select count(*) from n where i not in (5, 5, 7, 3000, 4000)
GO
