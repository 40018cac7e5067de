-- A trigger goes back to a savepoint from before its statement: the statement has then done nothing, and goes on.
create table t (id int not null primary key, v int); create table log (n int); create table mode (m varchar(20))
GO
create trigger tr on t after insert, delete as
begin
  set nocount on
  declare @m varchar(20) = (select max(m) from mode)
  if @m like 'before%' rollback tran s
  if @m = 'before, work' insert log values (99)
  if @m = 'before, error' begin set xact_abort off; delete log; insert log values (77); throw 50001, 'mine', 1 end
  if @m = 'own' begin insert log values (5); save tran own; delete log; rollback tran own end
  if @m = 'own, error' begin set xact_abort off; delete log; save tran own; throw 50001, 'mine', 1 end
end
GO
insert log values (1), (2), (3)
GO
insert mode values ('before')
GO
begin tran; save tran s; delete log where n = 1; insert t values (1, 1); select @@trancount, (select count(*) from t), (select count(*) from log)
GO
commit; select count(*) from t
GO

-- What it does behind that stays with the statement.
update mode set m = 'before, work'
GO
begin tran; save tran s; delete log where n = 1; insert t values (1, 1); select (select count(*) from t); commit; select n from log order by n
GO

-- It fails behind that: only what came after the savepoint is undone, once.
delete log where n = 99; update mode set m = 'before, error'
GO
begin tran; insert log values (10); save tran s; delete log where n < 3
GO
insert t values (1, 1); print 'not here'
GO
select @@trancount, xact_state(); select n from log order by n; rollback tran s; commit; select n from log order by n; delete log where n = 10
GO
begin tran; save tran s; delete log; begin try insert t values (1, 1) end try begin catch select error_number(), xact_state() end catch; select n from log order by n; commit
GO
select n from log order by n
GO

-- Savepoints of its own last as long as what they stand in.
update mode set m = 'own'
GO
begin tran; insert t values (1, 1); select n from log order by n; rollback tran own; commit; select n from log order by n; select count(*) from t
GO
insert t values (2, 2); select count(*) from t; select n from log order by n
GO
update mode set m = 'own, error'; delete log where n = 5
GO
begin tran
GO
insert t values (3, 3)
GO
select @@trancount, xact_state()
GO
rollback tran own
GO
select n from log order by n; select count(*) from t where id = 3
GO
rollback
GO

-- Temporary tables and definitions go back to the savepoint, too.
update mode set m = 'before, error'
GO
begin tran; save tran s; create table #x (i int); create table made (i int)
GO
insert t values (4, 4)
GO
select object_id('tempdb..#x'), object_id('made'), @@trancount
GO
rollback
GO

-- A savepoint without a name is none; the transaction's name ends all of it, in this transaction alone.
begin tran first_one; save tran first_save; insert log values (8); rollback tran first_one; select @@trancount
GO
begin tran; rollback tran first_one
GO
rollback; select count(*) from log where n = 8
GO
