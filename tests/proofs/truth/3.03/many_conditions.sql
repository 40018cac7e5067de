SET NOCOUNT ON
GO
create table n (i int null, s varchar(20) null)
insert n select value, concat('x', value) from generate_series(1, 3000)
insert n values (null, null)
GO
-- very many conditions beside each other
declare @c nvarchar(max) = (select string_agg(cast(concat('i <> ', value * 3) as nvarchar(max)), ' and ') from generate_series(1, 8000))
exec (N'select count(*) from n where ' + @c)
exec (N'select count(*) from n where ' + @c + N' and i <> 1 and i <> 3 and i <> 3')
exec (N'select count(*) from n join (select i j from n) m on n.i = m.j where i <= 100 and ' + @c)
GO
declare @c nvarchar(max) = (select string_agg(cast(concat('i > ', value) as nvarchar(max)), ' and ') from generate_series(1, 2500))
exec (N'select count(*), min(i) from n where ' + @c)
GO
declare @c nvarchar(max) = (select string_agg(cast(concat('s <> ''x', value * 2, '''') as nvarchar(max)), ' and ') from generate_series(1, 5000))
exec (N'select count(*) from n where ' + @c)
GO
-- what stands between double quotes is as the last SET before it says
set quoted_identifier on; select 1 as "a b"; set quoted_identifier off; select "a b", "it's", "say ""so"""; set quoted_identifier on; select "i" from n where i = 7
GO
declare @q nvarchar(max) = N'set nocount on; create table "t q" ("c d" int); insert "t q" values (1); ' + replicate(cast(N'set quoted_identifier off; insert [t q] select len("ab"); set quoted_identifier on; update "t q" set "c d" += 1 where "c d" = 2; ' as nvarchar(max)), 500) + N'select count(*), sum("c d") from "t q"'
exec (@q)
GO
set quoted_identifier off
GO
select "text"
GO
set quoted_identifier on; select "text" from (select 1 as "text") x
GO
