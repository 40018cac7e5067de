set nocount on
go
print 'errors'
create table t (a int primary key, b int primary key)
go
create table t (a int not null, b int not null, primary key (a), primary key (b))
go
create table t (a int unique clustered, b int primary key clustered)
go
create table t (a int index i1 clustered, b int index i2 clustered)
go
create table t (a int, primary key (a, a))
go
create table t (a int, index ix (a, a))
go
create table t (a int, index ix (a) include (a))
go
create table t (a int, primary key (x))
go
create table t (a int, b int primary key (x))
go
create table t (a int, index ix (x))
go
create table t (a int index ix (x))
go
create table t (a int, unique (x))
go
create table t (a int null, b int primary key (a))
go
create table t (a int null primary key)
go
create table t (a int, c as a + 1 primary key)
go
create table t (a int, index ix (a) where x > 1)
go
create table t (a int, index ix clustered (a) include (a))
go
create table t (a int default 1 default 2)
go
create table t (a int constraint d1 default 1 constraint d2 default 2)
go
create table t (a int, constraint d1 default 1 for a)
go
create table t (a int, default 1 for a)
go
create table t (a int, b int check (a > 1))
go
create table t (a int, b int, check (a > b), constraint c check (zz > 1))
go
create table p (a int primary key, b int unique)
go
create table t (a int, b int references p (a, b))
go
create table t (a int, b int foreign key (a) references p (a)); select c.name, rc.name from sys.foreign_key_columns f join sys.columns c on c.object_id = f.parent_object_id and c.column_id = f.parent_column_id join sys.columns rc on rc.object_id = f.referenced_object_id and rc.column_id = f.referenced_column_id; drop table t
go
create table t (a int, b int constraint fk foreign key references p (b)); select c.name from sys.foreign_key_columns f join sys.columns c on c.object_id = f.parent_object_id and c.column_id = f.parent_column_id; drop table t
go
create table t (a int, constraint fk foreign key (x) references p (a))
go
create table t (a int, constraint fk foreign key (a) references p (x))
go
create table t (a bigint, constraint fk foreign key (a) references p (a))
go
create table t (a int, b int, foreign key (a, b) references p (a))
go
create table t (a int, constraint fk foreign key (a) references nope (a))
go
create table t (a varchar(10), b int constraint fk foreign key (a) references p)
go
create table t (a int constraint c1 primary key, b int constraint c1 unique)
go
create table t (a varchar(max) primary key)
go
create table t (a varchar(max), index ix (a))
go
create table t (a text, b int, index ix (b) include (a))
go
create table t (a int primary key primary key)
go
create table t (a int index ix index ix)
go
create table t (a int constraint zpk primary key with (fillfactor = 50), b int index ix2 with (fillfactor = 60), index ix3 (a) with (fillfactor = 70)); select left(name, 5), fill_factor from sys.indexes where object_id = object_id('t') order by name desc; drop table t
go
