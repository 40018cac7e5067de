create table a (id int primary key, k int not null, v int not null);
create table b (id int primary key, k int not null, v int not null);
create table s (id int primary key, k int not null, v int not null);
insert into a select i, i * 7919::bigint % 2000003, i % 1000 from generate_series(1, 2000000) i;
insert into b select i, i * 104729::bigint % 2000003, i % 1000 from generate_series(1, 2000000) i;
insert into s select i, i * 15485863::bigint % 5000011, i % 1000 from generate_series(1, 5000000) i;
vacuum analyze;
checkpoint;
