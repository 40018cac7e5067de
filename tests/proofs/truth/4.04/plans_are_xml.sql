-- Documents of plans are xml: their methods know them by the showplan namespace. Those of
-- sys.dm_exec_text_query_plan stay text.
set nocount on
go
create table dbo.planned (a int primary key, b int)
go
create procedure dbo.reads as select b from dbo.planned where a = 1
go
exec dbo.reads
go
with xmlnamespaces (default 'http://schemas.microsoft.com/sqlserver/2004/07/showplan')
select qp.query_plan.value('(//StmtSimple/@StatementType)[1]', 'varchar(20)') as statement,
  qp.query_plan.exist('//RelOp[@PhysicalOp="Clustered Index Seek"]') as seeks,
  qp.query_plan.exist('//RelOp[@PhysicalOp="Hash Match"]') as hashes,
  qp.query_plan.query('count(//RelOp)').value('.', 'int') as operators
from sys.dm_exec_procedure_stats ps cross apply sys.dm_exec_query_plan(ps.plan_handle) qp
where ps.object_id = object_id('dbo.reads')
go
select o.c.value('local-name(.)', 'varchar(20)') as root
from sys.dm_exec_procedure_stats ps cross apply sys.dm_exec_query_plan(ps.plan_handle) qp cross apply qp.query_plan.nodes('/*') o(c)
where ps.object_id = object_id('dbo.reads')
go
select left(tp.query_plan, 12) as text, isnull(qp.query_plan.exist('/*[1]'), 0) as document
from sys.dm_exec_procedure_stats ps cross apply sys.dm_exec_text_query_plan(ps.plan_handle, 0, -1) tp cross apply sys.dm_exec_query_plan(ps.plan_handle) qp
where ps.object_id = object_id('dbo.reads')
go
select object_name(c.object_id, db_id('master')) as view_name, t.name as type from sys.all_columns c join sys.types t on t.user_type_id = c.user_type_id
where c.name = 'query_plan' and c.object_id in (object_id('sys.dm_exec_query_plan'), object_id('sys.dm_exec_query_plan_stats'), object_id('sys.dm_exec_query_statistics_xml'), object_id('sys.dm_exec_text_query_plan')) order by 1
go
select qp.query_plan.value('.', 'int') from sys.dm_exec_cached_plans cp cross apply sys.dm_exec_text_query_plan(cp.plan_handle, 0, -1) qp
go
