set nocount on
go
create schema s1
go
create table dbo.amb (v varchar(20)); create table s1.amb (v varchar(20)); insert dbo.amb values ('dbo'); insert s1.amb values ('s1')
go
create procedure s1.idi as set identity_insert idt on; insert idt (i) values (7)
go
create table dbo.idt (i int identity); create table s1.idt (i int identity)
go
exec s1.idi; select 'dbo', count(*) from dbo.idt; select 's1', count(*) from s1.idt
go
create procedure s1.cur as declare c cursor local for select v from amb; open c; declare @v varchar(20); fetch c into @v; select @v; update amb set v = 'cur' where current of c; select * from s1.amb
go
exec s1.cur
go
create procedure s1.ups as update s1.amb set v = 'from' from amb; select v from s1.amb; update amb set v = 'from2' from s1.amb;  select v from s1.amb; update a set v = 'from3' from amb a;select v from s1.amb; delete amb from s1.amb; select count(*) from amb;
go
exec s1.ups
go
