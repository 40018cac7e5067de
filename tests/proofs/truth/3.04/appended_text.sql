SET NOCOUNT ON
GO
-- a variable that is appended to has what it had, and nobody else has more
declare @s nvarchar(max) = N'', @t nvarchar(max), @i int = 0
while @i < 30000
begin
  set @s += N'0123456789'
  if @i = 15000 set @t = @s
  set @i += 1
end
select len(@s), len(@t), right(@s, 11), right(@t, 11)
set @t += N'x'; set @s += N'yz'
select right(@s, 3), right(@t, 3), len(@s), len(@t)
GO
-- to itself, before itself, several at once, and what is shorter than a word
declare @s varchar(max) = replicate(cast('ab' as varchar(max)), 300)
set @s += @s; set @s = @s + '-' + @s + '-' + cast(len(@s) as varchar(10)); select len(@s), right(@s, 10)
set @s = 'x' + @s; select len(@s), left(@s, 4); set @s += ''; select len(@s)
declare @k varchar(max) = ''; set @k += 'a'; set @k += 'b'; select @k
GO
-- NULL makes it NULL; an error leaves it as it was
declare @s nvarchar(max) = replicate(cast(N'q' as nvarchar(max)), 1000), @n nvarchar(10)
begin try set @s += N'a' + cast(1 / 0 as nvarchar(10)) end try begin catch select error_number(), len(@s) end catch
begin try set @s += cast(cast(N'z' as int) as nvarchar(10)) end try begin catch select error_number(), len(@s) end catch
set @s += @n; select @s
set @s += N'a'; select @s
GO
-- bytes; text of another kind; a length that is declared
declare @b varbinary(max) = cast(replicate('z', 5000) as varbinary(max)), @i int = 0
while @i < 200 begin set @b += cast(@i as binary(2)); set @i += 1 end
select datalength(@b), substring(@b, 5001, 4), substring(@b, 5397, 4)
declare @v varchar(max) = replicate('é', 2000); set @v += N'ü→'; set @v += cast('c' as char(3)); select len(@v), datalength(@v), right(@v, 5) + '|'
declare @short varchar(10) = '12345678'; set @short += 'abcdef'; select @short
GO
-- of rows, in their order
create table r (id int primary key, s varchar(20) null)
insert r select value, concat('k', value) from generate_series(1, 5000)
declare @s varchar(max) = ''
select @s = @s + s + ',' from r order by id
select len(@s), left(@s, 12), right(@s, 12)
declare @m nvarchar(max) = N'', @c int = 0
select @m += s, @c += 1, @m += N';' from r order by id
select len(@m), @c, right(@m, 6)
update r set s = null where id = 3000
select @s = @s + s from r order by id; select @s
GO
-- within functions and procedures
create function joined (@n int) returns varchar(max) as
begin
  declare @s varchar(max) = '', @i int = 1
  while @i <= @n begin set @s += cast(@i as varchar(10)) + ' '; set @i += 1 end
  return @s
end
GO
select id, len(dbo.joined(id * 400)) from r where id <= 3
GO
create procedure p @s nvarchar(max) output as set @s += @s + N'!'
GO
declare @s nvarchar(max) = replicate(N'w', 400); declare @copy nvarchar(max) = @s
exec p @s output; exec p @s output; select len(@s), right(@s, 2), len(@copy)
GO
