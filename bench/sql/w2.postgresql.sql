create table person
(
    person_id int generated always as identity primary key,
    family_name varchar(25) not null,
    given_name varchar(20) not null,
    is_member boolean not null,
    born date not null,
    street varchar(48) not null,
    town varchar(30) not null,
    post_code varchar(10) not null,
    country char(2) not null,
    phone varchar(16) null,
    mail varchar(48) null
);
create index person_name on person (family_name, given_name);
create index person_born on person (born);
create index person_place on person (country, town);
create index person_phone on person (phone);
create index person_mail on person (mail);
create procedure add_person() language plpgsql as $$
begin
    insert into person (family_name, given_name, is_member, born, street, town, post_code, country, phone, mail)
    values
    (
        'LN' || floor(10000 * random())::int,
        'FN' || floor(10000 * random())::int,
        random() < 0.5,
        date '2026-01-01' - floor(10000 * random())::int,
        'SA' || floor(10000000 * random())::int,
        'CI' || floor(100 * random())::int,
        'PC' || floor(1000 * random())::int,
        'C' || floor(10 * random())::int,
        'PN' || floor(10000000 * random())::int,
        'EM' || floor(10000000 * random())::int
    );
end $$;
create procedure add_persons(n int) language plpgsql as $$
begin
    for i in 1..n loop
        call add_person();
        commit;
    end loop;
end $$;
do $$ begin for i in 1..100000 loop call add_person(); end loop; end $$;
vacuum analyze;
