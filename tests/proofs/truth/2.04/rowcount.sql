create table i (id int constraint i_key primary key, v varchar(10))
GO
insert i values (0, 'zero'), (1, 'a'), (3, 'c'), (4, 'four'), (6, 'six'), (7, 'seven'), (20, 'moved')
GO
-- SET ROWCOUNT bounds STATIC and KEYSET cursors, not DYNAMIC and FAST_FORWARD ones. From the
-- reference, "SET ROWCOUNT".
set rowcount 2
GO
declare s cursor static for select id from i order by id; open s; select @@cursor_rows; fetch last from s; fetch next from s; deallocate s
GO
declare k cursor keyset for select id from i order by id; open k; select @@cursor_rows; fetch last from k; deallocate k
GO
declare d cursor dynamic for select id from i order by id; open d; fetch last from d; deallocate d
GO
declare f cursor fast_forward for select id from i order by id; open f; fetch f; fetch f; fetch f; select @@fetch_status; deallocate f
GO
declare n insensitive cursor for select id from i order by id; open n; fetch n; fetch n; fetch n; select @@fetch_status; deallocate n
GO
declare @c int, @s int = 8, @o int = 1, @r int; exec sp_cursoropen @c output, N'select id from i order by id', @s output, @o output, @r output; select @s, @r; exec sp_cursorfetch @c, 2, 0, 9; exec sp_cursorclose @c
GO
declare @c int, @s int = 1, @o int = 4, @r int; exec sp_cursoropen @c output, N'select id from i order by id', @s output, @o output, @r output; select @s, @r; exec sp_cursorfetch @c, 2, 0, 9; exec sp_cursor @c, 4, 0, N'', @id = 70; exec sp_cursorfetch @c, 8, 0, 1; exec sp_cursorclose @c
GO
set rowcount 0
GO
declare s cursor static for select id from i order by id; open s; select @@cursor_rows; deallocate s
GO
