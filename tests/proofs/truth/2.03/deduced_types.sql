-- sp_describe_undeclared_parameters. From the reference, "Parameter selection algorithm", with its examples.
create table t (id int not null identity primary key, c1 char(30), v varchar(30), n nvarchar(40), i int, s smallint, d decimal(10, 2), b varbinary(max), dt datetime, dt2 datetime2(3), bt bit, u uniqueidentifier, m money, f float, x xml, nm nvarchar(max))
GO
create function dbo.tbl(@a int, @b varchar(7), @c datetime) returns char(5) as begin return 'x' end
GO
create procedure dbo.p @a int, @b nvarchar(20) = N'x', @o decimal(5, 1) output as set @o = @a
GO
-- Every column of the answer.
exec sp_describe_undeclared_parameters N'select * from t where id = @id or v = @v'
GO
-- The same declared, and none at all.
exec sp_describe_undeclared_parameters N'select * from t where id = @id or v = @v', N'@id int'
GO
exec sp_describe_undeclared_parameters @tsql = N'select 1'
GO
create procedure show @sql nvarchar(max), @params nvarchar(max) = null as declare @r table (ordinal int, name sysname, id int, type nvarchar(256), len smallint, prec tinyint, scale tinyint, a int, b sysname null, c sysname null, d sysname null, e nvarchar(4000), f int, g sysname null, h sysname null, i sysname null, j bit, k bit, l bit, input bit, output bit, formal sysname null, tds int, tdslen int); insert @r exec sp_describe_undeclared_parameters @sql, @params; select ordinal, name, id, type, len, prec, scale, input, output, formal from @r order by ordinal
GO
-- INSERT, UPDATE, DELETE, MERGE: the columns' types, whatever they are.
exec show N'insert t (c1, v, n, i, s, d, b, dt, dt2, bt, u, m, f, x, nm) values (@P1, @P2, @P3, @P4, @P5, @P6, @P7, @P8, @P9, @P10, @P11, @P12, @P13, @P14, @P15)'
GO
exec show N'update t set v = @P1, b = @P2 where id = @P3 and n <> @P4'
GO
exec show N'delete t where i in (@P1, 2, @P2) and u = @P3'
GO
exec show N'merge t using (values (1)) as s (k) on t.id = @P1 when matched then update set v = @P2 when not matched then insert (n) values (@P3);'
GO
-- Of < and its kin, BETWEEN and LIKE the general rules.
exec show N'select * from t where c1 = @p'
GO
exec show N'select * from t where c1 > @p'
GO
exec show N'select * from t where v > @P1 and n between @P2 and @P3 and d < @P4 and dt2 >= @P5 and i <= @P6'
GO
exec show N'select * from t where v like @P1 or n like @P2'
GO
-- Arithmetic.
exec show N'select * from t where i = i + @p'
GO
exec show N'select * from t where i = s + @p'
GO
exec show N'select @p + 2'
GO
exec show N'select null + @p'
GO
exec show N'select d * @P1, m / @P2, v + @P3, -@P4 + i from t'
GO
-- Functions of users by their parameters, with their names; those that are built in generally.
exec show N'select * from t where @p1 = dbo.tbl(i, @p2, @p3)'
GO
exec show N'select substring(v, @P1, 2), upper(@P2), dateadd(day, @P3, dt), isnull(@P4, i), left(@P5, 3), len(@P6), round(d, @P7) from t'
GO
exec show N'select cast(@P1 as date), convert(varchar(12), @P2), case when @P3 = 1 then v else @P4 end from t'
GO
-- Rows: TOP, OFFSET, FETCH.
exec show N'select top (@P1) * from t order by id'
GO
exec show N'select id from t order by id offset @P1 rows fetch next @P2 rows only'
GO
-- Subqueries, joins, derived tables, EXISTS.
exec show N'select a.id from t a join t b on a.id = b.i and b.v = @P1 where exists (select 1 from t c where c.dt = @P2) and a.n in (select n from t where f = @P3)'
GO
-- Procedures: by position, by name, output; the return status.
exec show N'exec p @P1, @P2, @P3 output'
GO
exec show N'exec @rc = dbo.p @a = @P1, @o = @P2 output'
GO
-- Variables: assigned by SET and SELECT, compared in IF and WHILE, declared within.
exec show N'declare @own int = @P1; set @own = @P2; set @out = @own + 1; if @own = @P3 print @own'
GO
exec show N'select @name = v from t where id = @id'
GO
exec show N'set @v = N''abc'''
GO
-- Names in strings, comments and other names are none; order is that of the text.
exec show N'select ''@no'' /* @no */ from t where v = @b and id = @a and [c1] = @c -- @no'
GO
