create table n (i int not null)
GO
insert n select top (2000) row_number() over (order by (select null)) - 1 from master..spt_values
GO
create table a (id int not null primary key, k int not null, v int not null)
GO
create table b (id int not null primary key, k int not null, v int not null)
GO
create table s (id int not null primary key, k int not null, v int not null)
GO
declare @i int = 0
while @i < 5000000
begin
    if @i < 2000000
    begin
        insert a select @i + i + 1, (@i + i + 1) * cast(7919 as bigint) % 2000003, (@i + i + 1) % 1000 from n
        insert b select @i + i + 1, (@i + i + 1) * cast(104729 as bigint) % 2000003, (@i + i + 1) % 1000 from n
    end
    insert s select @i + i + 1, (@i + i + 1) * cast(15485863 as bigint) % 5000011, (@i + i + 1) % 1000 from n
    set @i += 2000
end
GO
checkpoint
