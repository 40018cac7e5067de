create table t (id int not null identity primary key, c1 char(30), v varchar(30), n nvarchar(40), i int, s smallint, d decimal(10, 2), b varbinary(max), dt datetime, dt2 datetime2(3), bt bit, u uniqueidentifier, m money, f float, x xml, nm nvarchar(max))
GO
create function dbo.tbl(@a int, @b varchar(7), @c datetime) returns char(5) as begin return 'x' end
GO
create procedure dbo.p @a int, @b nvarchar(20) = N'x', @o decimal(5, 1) output as set @o = @a
GO
create procedure show @sql nvarchar(max), @params nvarchar(max) = null as declare @r table (ordinal int, name sysname, id int, type nvarchar(256), len smallint, prec tinyint, scale tinyint, a int, b sysname null, c sysname null, d sysname null, e nvarchar(4000), f int, g sysname null, h sysname null, i sysname null, j bit, k bit, l bit, input bit, output bit, formal sysname null, tds int, tdslen int); insert @r exec sp_describe_undeclared_parameters @sql, @params; select ordinal, name, id, type, len, prec, scale, input, output, formal from @r order by ordinal
GO
-- What cannot be said.
exec show N'select * from t where @p1 = @p2'
GO
exec show N'select * from t where i = @p1 + @p2'
GO
exec show N'select * from t where @p1 = substring(@p2, 2, 3)'
GO
exec show N'select @p from t'
GO
exec show N'insert t (v) values (coalesce(@P1, ''''))'
GO
exec show N'select * from t where id = @p or i = @p'
GO
exec show N'select * from t where x = @p'
GO
-- What is wrong with the text is told first.
exec show N'select * from nowhere where a = @p'
GO
exec show N'select nothing from t where id = @p'
GO
exec show N'select * fro t'
GO
exec show N'select @a', N'@a int,, @b int'
GO
exec show N'insert t (v) values (@P1, @P2)'
GO
exec show N'create table #x (a int); insert #x values (@P1)'
GO
exec sp_describe_undeclared_parameters
GO
