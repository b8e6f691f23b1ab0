-- Prints a library as text: each row and each pair by record names, since keys differ from device
-- to device. Two stores that print the same are equal. Plain SQL; none of the project's code.
create temp view object as
    select m.ZCKRECORDNAME as name, p.Z_NAME as entity, m.ZENTITYPK as pk
    from ANSCKRECORDMETADATA m join Z_PRIMARYKEY p on p.Z_ENT = m.ZENTITYID;

create temp view image as
select 'Book' as kind, o.name as name, json_array(
    b.ZTITLE, b.ZPAGES, b.ZPRICE, b.ZPUBLISHED, b.ZSHELF, b.ZINPRINT, b.ZLENT,
    iif(b.ZAUTHOR is null, null, ifnull(author.name, 'nothing')),
    iif(b.ZJACKET is null, null, ifnull(jacket.name, 'nothing'))) as facts
    from ZBOOK b
    left join object o on o.entity = 'Book' and o.pk = b.Z_PK
    left join object author on author.entity = 'Author' and author.pk = b.ZAUTHOR
    left join object jacket on jacket.entity = 'Jacket' and jacket.pk = b.ZJACKET
union all
select 'Chapter', o.name, json_array(
    c.ZTITLE, iif(c.ZBOOK is null, null, ifnull(book.name, 'nothing')),
    case when c.ZBOOK is not null
        then row_number() over (partition by c.ZBOOK order by c.Z_FOK_BOOK) end)
    from ZCHAPTER c
    left join object o on o.entity = 'Chapter' and o.pk = c.Z_PK
    left join object book on book.entity = 'Book' and book.pk = c.ZBOOK
union all
select 'Jacket', o.name, json_array(
    j.ZCOLOUR, hex(j.ZPICTURE), iif(j.ZBOOK is null, null, ifnull(book.name, 'nothing')))
    from ZJACKET j
    left join object o on o.entity = 'Jacket' and o.pk = j.Z_PK
    left join object book on book.entity = 'Book' and book.pk = j.ZBOOK
union all
select entity.Z_NAME, o.name, json_array(
    p.ZNAME, p.ZBORN, p.ZCOUNTRY, hex(p.ZCARD),
    iif(p.ZTEACHER is null, null, ifnull(teacher.name, 'nothing')))
    from ZPERSON p
    join Z_PRIMARYKEY entity on entity.Z_ENT = p.Z_ENT
    left join object o on o.entity = entity.Z_NAME and o.pk = p.Z_PK
    left join object teacher on teacher.entity = 'Author' and teacher.pk = p.ZTEACHER
union all
select 'Tag', o.name, json_array(t.ZNAME)
    from ZTAG t left join object o on o.entity = 'Tag' and o.pk = t.Z_PK
union all
select 'pair of Book and Tag', book.name, json_array(tag.name)
    from Z_1TAGS j
    left join object book on book.entity = 'Book' and book.pk = j.Z_1BOOKS
    left join object tag on tag.entity = 'Tag' and tag.pk = j.Z_7TAGS
union all
select 'pair of Book and Reader', book.name, json_array(reader.name)
    from Z_1READERS j
    left join object book on book.entity = 'Book' and book.pk = j.Z_1FAVOURITES
    left join object reader on reader.entity = 'Reader' and reader.pk = j.Z_6READERS
union all
select distinct 'pair of related Books', min(one.name, other.name),
    json_array(max(one.name, other.name))
    from Z_1RELATED j
    left join object one on one.entity = 'Book' and one.pk = j.Z_1RELATED
    left join object other on other.entity = 'Book' and other.pk = j.REFLEXIVE;

select * from image order by 1, 2, 3;
