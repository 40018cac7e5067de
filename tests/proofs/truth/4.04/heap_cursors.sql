-- A cursor over a table without a unique key finds its rows by their places: it may change them, of
-- rows that are alike the one it stands on, and sees what others did to them.
set nocount on
go
create table h (a int, b varchar(1000)); insert h values (1, 'one'), (2, 'two'), (1, 'one'), (3, 'three')
go
declare c cursor for select a, b from h; open c
select @@cursor_rows as rows, cursor_status('global', 'c') as status
fetch c
update h set b = 'first' where current of c
fetch c
delete h where current of c
fetch c
update h set b = replicate('w', 1000) where current of c
select a, left(b, 5) as b from h
go
fetch c
update h set b = 'outside' where a = 3
update h set b = 'mine' where current of c
go
select a, left(b, 7) as b from h where a = 3
fetch c
select @@fetch_status as status
deallocate c
go
declare c cursor scroll dynamic for select a from h; open c
fetch last from c
fetch prior from c
delete h where a = 3
fetch next from c
select @@fetch_status as status
fetch first from c
delete h where a = 1
delete h where current of c
go
deallocate c
select count(*) as n from h
go
create clustered index byA on h (a)
insert h values (5, 'x'), (5, 'y'), (5, 'z'), (6, 'x')
declare c cursor scroll dynamic for select a, b from h order by a; open c
fetch c
fetch c
update h set b = 'Y' where current of c
fetch c
delete h where current of c
fetch prior from c
update h set a = 4 where current of c
deallocate c
select a, b from h order by a, b
go
declare k cursor keyset for select a from h; open k; fetch k
update h set b = 'no' where current of k
go
deallocate k
declare k cursor keyset for select a from h for update
go
declare s cursor for select a, b from h order by b desc; open s; fetch s
delete h where current of s
go
