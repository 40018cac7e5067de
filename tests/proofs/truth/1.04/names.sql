-- Any name has files of its own, in the folder.
create database [../up]
create database [..]
create database [/tmp/x]
create database [x_log]
create database [x]
go
declare @long nvarchar(128) = replicate(N'Ж', 128)
exec(N'create database [' + @long + N']')
go
create database [X]
go
select d.name, case when f.physical_name like '%/../%' or f.physical_name like '/tmp/x%' then 'out' else 'in' end as place
from sys.databases d join sys.master_files f on f.database_id = d.database_id and f.type = 0
where d.database_id > 4 order by d.database_id
go
