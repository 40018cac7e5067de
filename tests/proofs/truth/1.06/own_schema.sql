set nocount on
go
create schema s1
go
create schema s2
go
create table dbo.amb (v varchar(20)); create table s1.amb (v varchar(20));
insert dbo.amb values ('dbo'); insert s1.amb values ('s1');
create table dbo.only_dbo (v int); insert dbo.only_dbo values (1)
create sequence dbo.sq start with 100; create sequence s1.sq start with 200
create table dbo.under (v varchar(20)); create table s1.under (v varchar(20)); insert dbo.under values('dbo u'); insert s1.under values('s1 u')
create synonym dbo.syn for dbo.under; create synonym s1.syn for s1.under
go
create type dbo.ty from varchar(3)
go
create type s1.ty from varchar(6)
go
create type dbo.tt as table (a int)
go
create type s1.tt as table (a int, b int)
go
create procedure dbo.inner_p as select 'dbo.inner_p'
go
create procedure s1.inner_p as select 's1.inner_p', object_schema_name(@@procid)
go
create function dbo.rows() returns table as return select 'dbo.rows' as r
go
create function s1.rows() returns table as return select 's1.rows' as r
go
create procedure s1.p as
begin
 set nocount on
 insert amb values ('ins')
 update amb set v = v + '+' where v = 'ins'
 select v from amb
 select * from only_dbo
 select next value for sq as n
 select v from syn
 exec inner_p
 select * from rows()
 declare @x ty = 'abcdefgh'
 select @x
 declare @t tt
 insert @t values (1, 2)
 select * from @t
 declare @u table (c ty); insert @u values ('abcdef'); select * from @u
 delete amb where v = 'ins+'
 merge amb using (select 's1' as v) as s on s.v = amb.v when matched then update set v = 'merged';
 select v from amb
 exec ('select v from amb; exec inner_p')
 exec sp_executesql N'select v from amb'
 select object_id('amb') - object_id('dbo.amb') as is_dbo
end
go
exec s1.p
go
select 'dbo', * from dbo.amb union all select 's1', * from s1.amb
go
create function s1.f() returns varchar(20) as begin declare @r varchar(20); select @r = v from amb; declare @x ty = 'abcdefgh'; return @r + @x end
go
select s1.f()
go
create function s1.mf() returns @r table (v varchar(20)) as begin insert @r select v from amb; insert @r select r from rows(); return end
go
select * from s1.mf()
go
create table s1.host (i int); create table dbo.log (v varchar(10)); create table s1.log (v varchar(10));
go
create trigger s1.tr on s1.host after insert as insert log values ('tr')
go
insert s1.host values (1); select 'dbo', count(*) from dbo.log; select 's1', count(*) from s1.log
go
