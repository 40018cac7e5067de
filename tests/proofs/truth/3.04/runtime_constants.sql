SET NOCOUNT ON
GO
set nocount on; create table r (id int not null primary key, k bigint not null, s nvarchar(128) null, g uniqueidentifier null); insert r (id, k, s) select value, value, concat('n', value) from generate_series(1, 2000); create index ik on r (k); create index isn on r (s); create index ig on r (g)
GO
set showplan_text on
GO
select id from r where id = 1 + cast(rand() * 1900 as int)
GO
select id from r where id between 1 + cast(rand() * 10 as int) and 20 + cast(rand(5) * 10 as int)
GO
select id from r where s = user_name()
GO
select id from r where s = cast(session_context(N'who') as nvarchar(128))
GO
select id from r where id = @@spid
GO
select id from r where id = object_id('r')
GO
select id from r where s = error_message()
GO
select id from r where s = schema_name(1)
GO
select id from r where k = current_transaction_id()
GO
select id from r where s = app_name() or s = host_name()
GO
select id from r where g = newid()
GO
select id from r where id = abs(checksum(newid())) % 100
GO
set showplan_text off
GO
declare @n int = 0, @i int = 0; while @i < 50 begin set @n += (select count(*) from r where id = 1 + cast(rand() * 1900 as int)); set @i += 1 end; select @n
GO
declare @n int = 0, @i int = 0; while @i < 50 begin set @n += (select count(*) from r where k = 1 + cast(rand() * 1900 as int)); set @i += 1 end; select @n
GO
declare @n int = 0, @i int = 0; while @i < 50 begin set @n += (select count(*) from r where k < cast(rand() as decimal(9, 8)) + 2); set @i += 1 end; select iif(@n between 50 and 100, 'one or two', 'wrong')
GO
declare @n int = 0, @i int = 0; while @i < 50 begin set @n += (select count(*) from r where (id = 1 + cast(rand() * 1900 as int) or k = 5000) and k > 0); set @i += 1 end; select @n
GO
exec sp_set_session_context N'who', N'n77'; select id from r where s = cast(session_context(N'who') as nvarchar(128))
GO
select count(*) from r a join r b on b.id = 1 + cast(rand(7) * 1900 as int) where a.id <= 10
GO
