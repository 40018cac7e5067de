-- What would pass 2,147,483,647 bytes fails before it is made.
set nocount on
select len(replicate(cast('x' as varchar(max)), 2147483648))
GO
select len(replicate(cast(N'x' as nvarchar(max)), 1073741824))
GO
select len(replicate(replicate(cast('x' as varchar(max)), 1000000), 2148))
GO
begin try
    select len(replicate(cast('ab' as varchar(max)), 2000000000))
end try
begin catch
    select error_number() as number, error_severity() as severity, error_message() as message
end catch
GO
-- What is limited is cut, as ever.
select len(replicate('x', 2000000000)) as cut
GO
