create table test (id int primary key);
insert into test values (0);
create procedure ghost() language plpgsql as $$ begin
    for i in 1..{n} loop
        update test set id = i where id = i - 1;
        commit;
    end loop;
end $$;
