create table history
(
    transaction_id int primary key,
    product_id int not null,
    happened datetime not null,
    quantity int not null,
    cost decimal(19, 4) not null
);
create table other (id int primary key, v int not null);
insert into other values (1, 42);
insert into history
select seq, seq % 1000, timestamp '2010-01-01 00:00:00' + interval seq minute, seq % 100, seq % 977
from seq_1_to_{n};
