-- A text that is doubled is refused before the memory is used up; the batch goes on.
set nocount on
declare @x varchar(max) = 'a', @i int = 0, @error int = 0
while @i < 32 and @error = 0
begin
    begin try
        set @x = @x + @x
        set @i += 1
    end try
    begin catch
        set @error = error_number()
    end catch
end
select @error as error, case when len(@x) < 1000000000 then 'kept' end as text_before
GO
select 'goes on' as session
GO
