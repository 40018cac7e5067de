-- A sample of nothing: the statistics are there, and know nothing; the next look finds everything.
set nocount on
go
create table t (a int, b int)
insert t values (1, 1), (1, 2), (2, 3)
create statistics s on t (a) with sample 0 rows
create statistics p on t (b) with sample 0 percent, norecompute
select name, no_recompute from sys.stats where object_id = object_id('t') order by name
select s.name, p.rows, p.rows_sampled from sys.stats s outer apply sys.dm_db_stats_properties(s.object_id, s.stats_id) p where s.object_id = object_id('t') order by s.name
go
update statistics t s with fullscan
select p.rows, p.rows_sampled from sys.stats s cross apply sys.dm_db_stats_properties(s.object_id, s.stats_id) p where s.object_id = object_id('t') and s.name = 's'
update statistics t s with sample 0 rows
select p.rows, p.rows_sampled from sys.stats s outer apply sys.dm_db_stats_properties(s.object_id, s.stats_id) p where s.object_id = object_id('t') and s.name = 's'
update statistics t s with sample 100 percent
select p.rows, p.rows_sampled from sys.stats s cross apply sys.dm_db_stats_properties(s.object_id, s.stats_id) p where s.object_id = object_id('t') and s.name = 's'
go
create statistics bad on t (a) with sample -1 rows
go
