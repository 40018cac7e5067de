-- A row whose key changes WHERE CURRENT OF a KEYSET cursor leaves a hole, and comes again at the end;
-- one whose key somebody else changes leaves the hole alone.
set nocount on
go
create table p (id int primary key, v int); insert p values (1, 1), (2, 2), (3, 3)
go
declare k cursor keyset scroll for select id, v from p order by id; open k
select @@cursor_rows as rows
fetch k
update p set id = id + 9, v = 11 where current of k
select @@rowcount as changed
fetch first from k
select @@fetch_status as status
fetch next from k
update p set v = 22 where current of k
fetch next from k
fetch next from k
select @@fetch_status as status
update p set v = 12 where current of k
fetch relative 0 from k
update p set id = 2000 where id = 2
fetch absolute 2 from k
select @@fetch_status as status
fetch last from k
fetch next from k
select @@fetch_status as status
deallocate k
select id, v from p order by id
go
create table two (a int, b int, c int, primary key (a, b)); insert two values (1, 1, 0), (1, 2, 0)
declare k cursor local keyset scroll for select a, b, c from two; open k
fetch k
update two set b = 5, c = 1 where current of k
fetch last from k
update two set a = 7 where current of k
fetch last from k
fetch absolute 3 from k
select @@fetch_status as status
select * from two order by a
go
