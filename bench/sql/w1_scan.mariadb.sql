create table test (id int primary key);
insert into test values (0);
delimiter //
create procedure ghost()
begin
    declare i int default 1;
    while i <= {n} do
        start transaction;
        update test set id = id + 1;
        commit;
        set i = i + 1;
    end while;
end //
