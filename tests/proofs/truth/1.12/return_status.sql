set nocount on
go
create procedure p0 as select 1 as one
go
create procedure p1 as select 1/0
go
create table u (a int constraint pk_u primary key); insert u values (1)
go
create procedure p2 as insert u values (1)
go
create procedure p3 as begin try insert u values (1) end try begin catch end catch
go
create procedure p4 as insert u values (1); select 1/0; print 'goes on'
go
create procedure p5 as select 1/0 return 7
go
create procedure p6 as select 1/0 return
go
create procedure p7 as select * from nope
go
create procedure p8 as raiserror('low', 10, 1) raiserror('mid', 12, 1)
go
create procedure p9 as declare @r int exec @r = p1 select @r as inner_status
go
create procedure p10 as exec p1; print 'after'
go
declare @r int
exec @r = p0; select 'p0', @r
exec @r = p1; select 'p1', @r
exec @r = p2; select 'p2', @r
exec @r = p3; select 'p3', @r
exec @r = p4; select 'p4', @r
exec @r = p5; select 'p5', @r
exec @r = p6; select 'p6', @r
exec @r = p7; select 'p7', @r
exec @r = p8; select 'p8', @r
exec @r = p9; select 'p9', @r
exec @r = p10; select 'p10', @r
exec @r = sp_executesql N'select 1/0'; select 'sp_executesql', @r
exec @r = sp_executesql N'select 1'; select 'sp_executesql', @r
go
