-- How a transaction ends within a trigger. XACT_ABORT is ON there, so an error that the trigger itself catches dooms the transaction, and the batch ends with it: 3616.
create table t (id int not null, v int); create table log (n int); create table mode (m varchar(20))
GO
create trigger tr on t after insert as
begin
  set nocount on
  declare @m varchar(20) = (select max(m) from mode)
  if @m = 'caught' begin try select 1 / 0 end try begin catch declare @x int = xact_state(); print concat('state ', @x) end catch
  if @m = 'spared' begin set xact_abort off; begin try select 1 / 0 end try begin catch set @x = xact_state(); print concat('state ', @x) end catch end
  if @m = 'conversion' begin set xact_abort off; begin try set @x = cast('x' as int) end try begin catch set @x = xact_state(); print concat('state ', @x) end catch end
  if @m = 'raised' begin try raiserror('mine', 16, 1) end try begin catch set @x = xact_state(); print concat('state ', @x) end catch
  if @m = 'thrown' begin try throw 50001, 'mine', 1 end try begin catch set @x = xact_state(); print concat('state ', @x) end catch
  if @m = 'again' begin try select 1 / 0 end try begin catch throw end catch
  if @m = 'written' begin try select 1 / 0 end try begin catch insert log values (1) end catch
  if @m = 'committed' begin try select 1 / 0 end try begin catch commit end catch
  if @m = 'rolled' begin try select 1 / 0 end try begin catch rollback; print concat('count ', @@trancount) end catch
  if @m = 'savepoint' begin save tran s; begin try select 1 / 0 end try begin catch rollback tran s end catch end
  if @m = 'rollback' rollback
  if @m = 'commit' commit
  if @m = 'begun' begin tran
  if @m = 'error' select 1 / 0
  print 'the trigger ends'
end
GO
insert mode values ('caught')
GO
insert t values (1, 1); print 'not here'
GO
select @@trancount, (select count(*) from t)
GO
begin tran; insert log values (1)
GO
insert t values (1, 1); print 'not here'
GO
select @@trancount, (select count(*) from t), (select count(*) from log)
GO

-- Caught again by the statement's batch, the doomed transaction is there to be rolled back; the statement's own is gone.
begin tran; begin try insert t values (1, 1) end try begin catch select error_number(), error_procedure(), error_line(), xact_state(), @@trancount; rollback end catch
GO
begin try insert t values (1, 1) end try begin catch select error_number(), error_procedure(), error_line(), xact_state(), @@trancount end catch
GO
begin tran; begin try insert t values (1, 1) end try begin catch print 'caught' end catch; print 'goes on'
GO
select @@trancount, (select count(*) from t)
GO

-- Without XACT_ABORT a division by zero dooms nothing, a conversion does.
update mode set m = 'spared'; insert t values (1, 1); print 'here'
GO
select @@trancount, (select count(*) from t); delete t
GO
update mode set m = 'conversion'; insert t values (1, 1); print 'not here'
GO
select @@trancount, (select count(*) from t), (select m from mode)
GO

-- RAISERROR does not heed XACT_ABORT, THROW does.
update mode set m = 'raised'; insert t values (1, 1); print 'here'; delete t
GO
update mode set m = 'thrown'
GO
insert t values (1, 1); print 'not here'
GO
update mode set m = 'again'
GO
insert t values (1, 1); print 'not here'
GO
begin tran; begin try insert t values (1, 1) end try begin catch select error_number(), error_procedure(), xact_state(); rollback end catch
GO
select @@trancount, (select count(*) from t)
GO

-- What a doomed transaction does not do is an error of its own.
update mode set m = 'written'
GO
insert t values (1, 1); print 'not here'
GO
update mode set m = 'committed'
GO
insert t values (1, 1); print 'not here'
GO
begin tran; begin try insert t values (1, 1) end try begin catch select error_number(), error_procedure(), xact_state(); rollback end catch
GO
update mode set m = 'savepoint'
GO
insert t values (1, 1); print 'not here'
GO
update mode set m = 'rolled'
GO
insert t values (1, 1); print 'not here'
GO
select @@trancount, (select count(*) from t), (select count(*) from log)
GO

-- Ended by the trigger itself: 3609. What was committed is.
update mode set m = 'rollback'
GO
begin tran; insert log values (7)
GO
insert t values (1, 1); print 'not here'
GO
select @@trancount, (select count(*) from t), (select count(*) from log)
GO
begin try insert t values (1, 1) end try begin catch select error_number(), xact_state(), @@trancount end catch
GO
update mode set m = 'commit'
GO
insert t values (1, 1); print 'not here'
GO
select @@trancount, (select count(*) from t); delete t
GO
begin tran; begin tran; insert t values (1, 1); select @@trancount; rollback; select count(*) from t
GO

-- What the trigger has begun in the statement's own transaction lasts on.
update mode set m = 'begun'
GO
insert t values (1, 1); select @@trancount
GO
rollback; select @@trancount, (select count(*) from t)
GO
insert t values (1, 1); commit; select @@trancount, (select count(*) from t); delete t
GO

-- Triggers within triggers, and no trigger behind the one that dooms.
update mode set m = 'caught'
GO
create table u (id int)
GO
create trigger tu on u after insert as begin try insert t values (2, 2) end try begin catch declare @x int = xact_state(), @n int = error_number(); print concat('outer trigger: ', @n, ', state ', @x) end catch
GO
insert u values (1); print 'not here'
GO
begin tran; begin try insert u values (1) end try begin catch select error_number(), xact_state(); rollback end catch
GO
create trigger tz on t after insert as print 'not fired'
GO
exec sp_settriggerorder 'tr', 'first', 'insert'
GO
insert t values (1, 1); print 'not here'
GO
select @@trancount, (select count(*) from t), (select count(*) from u)
GO
drop trigger tz; drop trigger tu
GO

-- Procedures, dynamic SQL and INSERT … EXEC between the statement and the batch.
create procedure p as begin insert t values (3, 3); print 'not here' end
GO
exec p; print 'not here'
GO
exec ('insert t values (3, 3); print ''not here'''); print 'not here'
GO
exec sp_executesql N'insert t values (3, 3); print ''not here'''; print 'not here'
GO
begin try exec p end try begin catch select error_number(), error_procedure(), xact_state(), @@trancount end catch
GO
insert log exec p
GO
begin tran; begin try insert t exec ('select 4, 4') end try begin catch select error_number(), xact_state(); rollback end catch
GO
select @@trancount, (select count(*) from t), (select count(*) from log)
GO

-- INSTEAD OF, MERGE, UPDATE and DELETE; a statement that fires triggers is not begun in a doomed transaction.
drop trigger tr; insert t values (1, 1), (2, 2); alter table t add constraint pk primary key (id)
GO
create trigger tr on t after insert, update, delete as begin try select 1 / 0 end try begin catch end catch
GO
update t set v = 9; print 'not here'
GO
delete t; print 'not here'
GO
merge t using (values (1), (5)) s (id) on t.id = s.id when matched then update set v = 7 when not matched then insert values (s.id, 0); print 'not here'
GO
declare c cursor for select v from t for update; open c; fetch c; update t set v = 3 where current of c; print 'not here'
GO
close c; deallocate c
GO
drop trigger tr
GO
create trigger tr on t instead of delete as begin try select 1 / 0 end try begin catch end catch
GO
delete t; print 'not here'
GO
begin tran; begin try select cast('x' as int) end try begin catch delete t; print 'not here' end catch
GO
select @@trancount, (select count(*) from t), (select sum(v) from t)
GO
