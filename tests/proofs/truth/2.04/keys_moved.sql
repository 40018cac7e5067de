create table i (id int constraint i_key primary key, v varchar(10))
GO
-- An UPDATE of the key: the row of the key before is gone, that of the key now stands at the end.
insert i values (1, 'a'), (2, 'b'), (3, 'c')
GO
declare @c int; exec sp_cursoropen @c output, N'select id, v from i order by id', 1, 4; exec sp_cursorfetch @c, 2, 0, 3; exec sp_cursor @c, 33, 2, N'', @id = 20; exec sp_cursorfetch @c, 1, 0, 9; exec sp_cursorfetch @c, 8, 0, 1; exec sp_cursor @c, 33, 1, N'', @v = 'moved'; exec sp_cursorclose @c; select * from i order by id
GO
-- Several rows, absolute and relative places from either end, holes where rows are gone.
declare @c int; exec sp_cursoropen @c output, N'select id, v from i order by id', 1, 4; exec sp_cursor @c, 4, 0, N'', @id = 5, @v = 'five'; exec sp_cursor @c, 4, 0, N'', @id = 4, @v = 'four'; exec sp_cursorfetch @c, 16, -1, 1; exec sp_cursorfetch @c, 16, 4, 1; exec sp_cursor @c, 34, 1, N''; exec sp_cursorfetch @c, 16, 3, 9; exec sp_cursorfetch @c, 32, 2, 1; exec sp_cursorfetch @c, 512, 0, 2; exec sp_cursorclose @c; select * from i order by id
GO
-- Of a cursor over two tables, and of a STATIC one, nothing is added; a DYNAMIC one has it if it qualifies.
create table j (id int primary key, w int); insert j values (1, 10), (3, 30)
GO
declare @c int; exec sp_cursoropen @c output, N'select i.id, i.v, j.w from i join j on j.id = i.id', 1, 4; exec sp_cursor @c, 4, 0, N'i', @id = 6, @v = 'six'; exec sp_cursorfetch @c, 1, 0, 9; exec sp_cursorclose @c
GO
declare @c int; exec sp_cursoropen @c output, N'select id, v from i where id > 5', 2, 4; exec sp_cursor @c, 4, 0, N'', @id = 7, @v = 'seven'; exec sp_cursor @c, 4, 0, N'', @id = 0, @v = 'zero'; exec sp_cursorfetch @c, 2, 0, 9; exec sp_cursorclose @c
GO
