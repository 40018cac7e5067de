-- What INSERT … EXEC runs ends no transaction but what it begins: 3915 and 3916 end the batch, and all is undone.
create table t (a int); create table log (n int)
GO
create procedure rolls as begin insert log values (1); select 1; rollback; print 'not here' end
GO
create procedure commits as begin insert log values (1); select 1; commit; print 'not here' end
GO
insert t exec rolls; print 'not here'
GO
insert t exec commits; print 'not here'
GO
select @@trancount, (select count(*) from t), (select count(*) from log)
GO
begin tran; insert log values (2)
GO
insert t exec rolls; print 'not here'
GO
select @@trancount, (select count(*) from t), (select count(*) from log)
GO
begin tran; insert log values (2)
GO
insert t exec commits; print 'not here'
GO
select @@trancount, (select count(*) from t), (select count(*) from log)
GO

-- Caught outside or within, the transaction is doomed.
begin tran; begin try insert t exec rolls end try begin catch select error_number(), error_state(), error_procedure(), xact_state(); rollback end catch
GO
begin try insert t exec commits end try begin catch select error_number(), error_state(), error_procedure(), xact_state(), @@trancount end catch
GO
create procedure catches as begin try insert log values (1); select 1 / 0 end try begin catch rollback; select 2 end catch
GO
insert t exec catches; print 'not here'
GO
create procedure catches_all as begin try rollback end try begin catch select error_number() end catch
GO
insert t exec catches_all; print 'not here'
GO
begin tran; begin try insert t exec catches_all end try begin catch select error_number(), xact_state(); rollback end catch
GO
declare @v table (a int); insert @v exec catches_all; print 'not here'
GO
select @@trancount, (select count(*) from t), (select count(*) from log)
GO

-- What is begun within may be committed within; savepoints may be set, not gone back to.
create procedure pairs as begin begin tran; insert log values (3); select 3; commit end
GO
insert t exec pairs; select @@trancount, (select count(*) from t), (select count(*) from log)
GO
insert t exec ('begin tran; insert log values (4); rollback; select 4'); print 'not here'
GO
insert t exec ('save tran s; insert log values (4); select 4')
GO
insert t exec ('save tran s; insert log values (5); rollback tran s; select 5'); print 'not here'
GO
select a from t order by a; select n from log order by n
GO

-- XACT_ABORT, dynamic SQL, a trigger that ends it behind the execution.
insert t exec ('set xact_abort on; begin try select 1 / 0 end try begin catch select 6 end catch'); print 'not here'
GO
insert t exec sp_executesql N'rollback'; print 'not here'
GO
create trigger tr on t after insert as if exists (select * from inserted where a = 7) rollback
GO
insert t exec ('select 7'); print 'not here'
GO
insert t exec ('insert log values (8); select 8'); select @@trancount, (select count(*) from log)
GO
create procedure inner_one as begin insert t values (7); select 9 end
GO
insert log exec inner_one; print 'not here'
GO
select @@trancount, (select count(*) from log)
GO

-- More levels than one are there to be committed within, with 266; the last is not.
drop trigger tr; delete t; delete log
GO
begin tran; begin tran; insert t exec commits; select @@trancount, (select count(*) from t), (select count(*) from log)
GO
insert t exec commits; print 'not here'
GO
select @@trancount, (select count(*) from t), (select count(*) from log)
GO
