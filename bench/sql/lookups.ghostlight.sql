create table n (i int not null)
GO
insert n select top (2000) row_number() over (order by (select null)) - 1 from master..spt_values
GO
create table p (id int not null primary key, v int not null)
GO
declare @i int = 0
while @i < 10000000
begin
    insert p select @i + i, (@i + i) % 1000 from n
    set @i += 2000
end
GO
create procedure lookups @n int as
begin
    declare @i int = 0, @k int = 1, @v int, @s bigint = 0
    while @i < @n
    begin
        set @k = (@k * cast(7919 as bigint) + 12345) % 10000000
        select @v = v from p where id = @k
        set @s += @v
        set @i += 1
    end
    select @s
end
GO
checkpoint
