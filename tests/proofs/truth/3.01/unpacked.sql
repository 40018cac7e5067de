-- A few megabytes that unpack to gigabytes.
set nocount on
declare @b varbinary(max) = compress(replicate(cast('x' as varchar(max)), 40000000))
declare @c varbinary(max) = @b + @b + @b + @b + @b + @b + @b + @b + @b + @b
begin try
    select datalength(decompress(@c + @c + @c + @c + @c + @c))
end try
begin catch
    select error_number() as error
end catch
select datalength(decompress(@b)) as one
GO
