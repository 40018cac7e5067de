create table customers (id int not null primary key, name nvarchar(40) not null)
create table orders (id int not null primary key, customer int not null, placed date not null)
create table lines (ordered int not null, line int not null, quantity int not null, primary key (ordered, line))
GO
insert customers select top (1000) row_number() over (order by (select null)), N'somebody' from master..spt_values
insert orders select id, 1 + id % 1000, '2026-01-01' from customers
insert lines select id, 1, 5 from orders
GO
