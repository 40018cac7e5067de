-- A row that comes in through a KEYSET cursor stands behind its last row, and is the one that is then
-- fetched, changed and deleted. From the reference, "Keyset-driven cursors".
create table t (id int identity primary key, v varchar(10)); insert t (v) values ('a'), ('b'), ('c')
GO
declare @c int; exec sp_cursoropen @c output, N'select id, v from t order by v', 1, 4; exec sp_cursor @c, 4, 0, N't', @v = 'aa'; exec sp_cursorfetch @c, 8, 0, 1; exec sp_cursor @c, 34, 1, N''; exec sp_cursorfetch @c, 1, 0, 9; exec sp_cursorclose @c; select * from t order by id
GO
-- Its key is what defaults, identity and triggers made of it.
create table g (k uniqueidentifier not null default newid() primary key, v varchar(10)); insert g (v) values ('old')
GO
create trigger gt on g after insert as set nocount on; update g set v = upper(v) where k in (select k from inserted)
GO
declare @c int, @row int = 0, @n int = 0; exec sp_cursoropen @c output, N'select v from g', 1, 4; exec sp_cursor @c, 4, 0, N'', @v = 'new'; exec sp_cursorfetch @c, 8, 0, 1; exec sp_cursorfetch @c, 256, @row output, @n output; select @row, @n; exec sp_cursor @c, 33, 1, N'', @v = 'newer'; exec sp_cursorfetch @c, 1, 0, 9; exec sp_cursorclose @c
GO
-- A row that an INSTEAD OF trigger keeps out is not there; one that fails is not either.
create table i (id int constraint i_key primary key, v varchar(10)); insert i values (1, 'a')
GO
create trigger it on i instead of insert as print 'kept out'
GO
declare @c int; exec sp_cursoropen @c output, N'select id, v from i', 1, 4; exec sp_cursor @c, 4, 0, N'', @id = 2, @v = 'b'; exec sp_cursorfetch @c, 8, 0, 1; exec sp_cursorclose @c
GO
drop trigger it
GO
declare @c int; exec sp_cursoropen @c output, N'select id, v from i', 1, 4; exec sp_cursor @c, 4, 0, N'', @id = 1, @v = 'twice'; exec sp_cursorfetch @c, 8, 0, 1; exec sp_cursor @c, 34, 1, N''; exec sp_cursorclose @c; select count(*) from i
GO
