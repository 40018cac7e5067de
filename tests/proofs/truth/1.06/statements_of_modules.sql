set nocount on
go
create schema s1
go
create schema s2
go
create table dbo.t (v varchar(10)); create table s1.t (v varchar(10)); create table s2.t (v varchar(10)); insert dbo.t values ('dbo'); insert s1.t values ('s1'); insert s2.t values ('s2')
go
create view s1.vw as select v from t
go
create procedure s1.same as select v from t
go
create procedure s2.same as select v from t
go
create procedure dbo.same as select v from t
go
exec s1.same exec s2.same exec dbo.same exec same
go
create procedure s2.reads as select v from s1.vw; with c as (select v from t) select * from c; select a.v from t a cross apply (select v from t b where b.v = a.v) x; select (select max(v) from t) as m; if exists (select 1 from t where v = 's2') print 'exists'; declare @x int = (select count(*) from t where v = 's2'); select @x
go
exec s2.reads
go
create synonym s2.other for s1.same
go
create procedure s2.by_synonym as exec other; create table #r (v varchar(10)); insert #r exec same; select * from #r; insert #r exec ('select v from t'); select * from #r
go
exec s2.by_synonym
go
create type dbo.tt from varchar(2)
go
create procedure s1.types as declare @x tt = 'abcdef'; select @x
go
exec s1.types
go
create type s1.tt from varchar(4)
go
exec s1.types
go
drop type s1.tt
go
exec s1.types
go
create procedure s1.takes @x tt as declare @y tt = @x select @x, @y
go
create type s1.tt from varchar(4)
go
exec s1.takes 'abcdef'
go
create procedure s1.ddl as select count(*) from t; truncate table t; select count(*) from t; alter table t add w int; drop table t; select count(*) from t
go
exec s1.ddl
go
select name, schema_name(schema_id) as s from sys.tables order by 2
go
create table dbo.t (v varchar(10)); insert dbo.t values ('new')
exec s1.same
go
select object_name(referencing_id) as r, referenced_schema_name as s, referenced_entity_name as e, object_schema_name(referenced_id) as found, is_caller_dependent as cd from sys.sql_expression_dependencies where object_name(referencing_id) in ('same', 'by_synonym') order by object_schema_name(referencing_id), 1, 3
go
create function s1.outer_f() returns varchar(20) as begin declare @r varchar(20) exec @r = s1.inner_f return @r end
go
create function s1.inner_f() returns varchar(20) as begin return (select max(v) from t) end
go
select s1.outer_f()
go
create table s1.parent (i int primary key); create table s1.child (i int)
go
create procedure s1.cur as declare c cursor for select v from t; open c; fetch c; close c; deallocate c; select v into #x from t; select * from #x; output_it: select 1
go
exec s1.cur
go
create trigger s1.trg on s1.child instead of insert as begin insert parent select i from inserted; exec same end
go
insert s1.child values (4); select * from s1.parent
go
