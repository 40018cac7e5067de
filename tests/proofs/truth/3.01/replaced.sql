-- Functions that make more of a text than it was: refused where there is no room, whole where there is.
set nocount on
declare @x varchar(max) = replicate(cast('x' as varchar(max)), 20000000)
begin try
    select len(replace(@x, 'x', replicate('y', 100)))
end try
begin catch
    select error_number() as error
end catch
begin try
    select len(string_agg(@x, ',')) from generate_series(1, 100)
end try
begin catch
    select error_number() as error
end catch
select len(replace(@x, 'x', 'yy')) as doubled, len(stuff(@x, 2, 3, 'abcd')) as stuffed,
    len(translate(@x, 'x', 'y')) as translated, right(reverse(@x + 'z'), 1) as reversed,
    left(reverse(@x + 'z'), 1) as first
GO
