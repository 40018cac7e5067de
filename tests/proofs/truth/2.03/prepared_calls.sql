create procedure dbo.p @a int, @b nvarchar(20) = N'x', @o decimal(5, 1) output as set @o = @a
GO
-- Prepared calls: sp_prepexecrpc, and its handle.
declare @h int, @o decimal(5, 1); exec sp_prepexecrpc @h output, N'dbo.p', 7, N'b', @o output; select @o; exec sp_execute @h, 8, N'b', @o output; select @o; exec sp_unprepare @h; exec sp_execute @h, 1
GO
declare @h int; exec sp_prepexecrpc @h output, N'nothing', 7
GO
declare @h int; exec sp_prepexecrpc @h output, 'dbo.p', 7
GO
