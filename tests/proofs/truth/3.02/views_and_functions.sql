SET NOCOUNT ON
GO
create table p (a int, b int); insert p values (1, 2), (2, 3), (3, 4)
GO
declare @i int = 1, @q nvarchar(max); exec ('create view v0 as select a from p'); while @i <= 24 begin set @q = concat('create view v', @i, ' as select x.a from v', @i - 1, ' x where exists (select 1 from v', @i - 1, ' y where y.a = x.a)'); begin try exec (@q) end try begin catch select @i, error_number(); break end catch; set @i += 1 end
GO
declare @i int = 1, @q nvarchar(max); exec ('create function f0 (@a int) returns table as return select a from p where a = @a'); while @i <= 24 begin set @q = concat('create function f', @i, ' (@a int) returns table as return select x.a from f', @i - 1, ' (@a) x cross join f', @i - 1, ' (@a + 1) y'); begin try exec (@q) end try begin catch select @i, error_number(); break end catch; set @i += 1 end
GO
