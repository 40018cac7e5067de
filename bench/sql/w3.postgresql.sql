create table history
(
    transaction_id int primary key,
    product_id int not null,
    happened timestamp not null,
    quantity int not null,
    cost numeric(19, 4) not null
);
create table other (id int primary key, v int not null);
insert into other values (1, 42);
insert into history
select i, i % 1000, timestamp '2010-01-01' + i * interval '1 minute', i % 100, i % 977
from generate_series(1, {n}) i;
vacuum analyze;
