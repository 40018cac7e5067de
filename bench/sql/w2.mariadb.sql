create table person
(
    person_id int auto_increment primary key,
    family_name varchar(25) not null,
    given_name varchar(20) not null,
    is_member bool not null,
    born date not null,
    street varchar(48) not null,
    town varchar(30) not null,
    post_code varchar(10) not null,
    country char(2) not null,
    phone varchar(16) null,
    mail varchar(48) null,
    key person_name (family_name, given_name),
    key person_born (born),
    key person_place (country, town),
    key person_phone (phone),
    key person_mail (mail)
) charset latin1;
delimiter //
create procedure add_persons(n int)
begin
    declare i int default 0;
    while i < n do
        insert into person (family_name, given_name, is_member, born, street, town, post_code, country, phone, mail)
        values
        (
            concat('LN', floor(10000 * rand())),
            concat('FN', floor(10000 * rand())),
            rand() < 0.5,
            date '2026-01-01' - interval floor(10000 * rand()) day,
            concat('SA', floor(10000000 * rand())),
            concat('CI', floor(100 * rand())),
            concat('PC', floor(1000 * rand())),
            concat('C', floor(10 * rand())),
            concat('PN', floor(10000000 * rand())),
            concat('EM', floor(10000000 * rand()))
        );
        set i = i + 1;
    end while;
end //
delimiter ;
start transaction;
call add_persons(100000);
commit;
