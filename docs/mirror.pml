/* One record, two devices, and a service that goes back to a backup once.
 *
 * The record counts edits: an edit adds one at the place of its device, and a merge is remote +
 * (local - base), where the base has the own counts that the record tells. In the end 0 is a lost
 * edit, and 2 is one that was applied twice. Requests and answers get lost, a request comes late, a device crashes between any two steps. What a device
 * keeps over a crash is what its ledger keeps. (docs/MERGE.md, sections 2, 5 and 11)
 *
 * Deletions win. What a merge without a base discards is logged; the law excepts what is logged.
 */
#ifndef FAULTS
#define FAULTS 2          /* losses, delays and crashes in all */
#endif
#ifndef RESTORES
#define RESTORES 1
#endif

typedef Tag { byte epoch, change };
typedef Version {
  Tag tag; byte count[2]; bool deleted;
  bool told[2]            /* the counts that it tells, by their names */
};
typedef Record {
  Version v;
  byte writes[3];         /* IDs of its last writes, newest first */
  Tag lost, repeated      /* the lost tag that it repeats, and the version that did */
};
typedef Request { byte id; Tag upon, witness, replays; byte count[2]; bool deleted, told[2] };
typedef Device {
  Version object, base;
  Request sent, older;    /* without an answer so far; id 0: none */
  Tag seen;               /* the newest tag it has met */
  Record page;            /* what the service answered */
  bool knowsBase, replay, logged
};

Device dev[2];
Record rec, backup;
Request late;
byte epoch = 1, counter = 1, ids = 0, faults = FAULTS, restores = RESTORES;
byte backupCounter, common;
bool hasBackup, hit, wasTaken, wasDeleted, edited[2];

#define same(a, b)      (a.epoch == b.epoch && a.change == b.change)
#define set(a, b)       a.epoch = b.epoch; a.change = b.change
#define clear(a)        a.epoch = 0; a.change = 0
#ifdef BLIND               /* a service whose tags and tokens know no epochs */
#define known(t)        true
#else
#define known(t)        (t.change == 0 || (t.epoch == epoch && t.change <= counter) || \
                         (t.epoch < epoch && t.change <= common))
#endif
#define ME              dev[d]
#define differs         (ME.object.count[0] != ME.base.count[0] || \
                         ME.object.count[1] != ME.base.count[1] || \
                         ME.object.deleted != ME.base.deleted)
#define quiet           (!differs && !ME.replay && same(ME.base.tag, rec.v.tag) && \
                         ME.sent.id == 0 && ME.older.id == 0)
#define asSent          (ME.sent.id != 0 && same(ME.sent.upon, ME.page.v.tag) && \
                         ME.sent.count[0] == source.count[0] && \
                         ME.sent.count[1] == source.count[1] && \
                         ME.sent.deleted == source.deleted)
#define holds(r, w)     (w != 0 && (r.writes[0] == w || r.writes[1] == w || r.writes[2] == w))

#define setCounts(a, b)  a.count[0] = b.count[0]; a.count[1] = b.count[1]; \
                         a.deleted = b.deleted; \
                         a.told[0] = b.told[0]; a.told[1] = b.told[1]
#define setVersion(a, b) set(a.tag, b.tag); setCounts(a, b)
#define setRecord(a, b)  setVersion(a.v, b.v); a.writes[0] = b.writes[0]; \
                         a.writes[1] = b.writes[1]; a.writes[2] = b.writes[2]; \
                         set(a.lost, b.lost); set(a.repeated, b.repeated)
#define setRequest(a, b) a.id = b.id; set(a.upon, b.upon); set(a.witness, b.witness); \
                         set(a.replays, b.replays); setCounts(a, b)

/* The service takes a request whose witness it knows and whose record stands as it was met. */
inline take(q) {
  wasTaken = known(q.witness) && same(q.upon, rec.v.tag);
  if
  :: wasTaken ->
    counter++;
    rec.v.tag.epoch = epoch; rec.v.tag.change = counter;
    setCounts(rec.v, q);
    rec.writes[2] = rec.writes[1]; rec.writes[1] = rec.writes[0]; rec.writes[0] = q.id;
    if
    :: q.replays.change != 0 ->
      set(rec.lost, q.replays); set(rec.repeated, rec.v.tag)
    :: else
    fi
  :: else
  fi
}

/* A device reads: the record, and whether its base is of a time that was lost. */
inline read() { setRecord(ME.page, rec); ME.knowsBase = known(ME.base.tag) }

inline merge() {
  if
  :: ME.page.v.deleted || ME.object.deleted ->
    if :: !ME.object.deleted && differs -> ME.logged = true :: else fi;
    ME.object.deleted = true;
    ME.object.count[0] = ME.page.v.count[0]; ME.object.count[1] = ME.page.v.count[1]
  :: else ->
#ifndef NAMELESS           /* a service and devices whose counts have no names */
    if
    :: ME.page.v.told[d] && ME.object.told[d] && !ME.base.told[d] -> ME.base.count[d]++
    :: else
    fi;
#endif
    ME.object.count[0] = ME.page.v.count[0] + ME.object.count[0] - ME.base.count[0];
    ME.object.count[1] = ME.page.v.count[1] + ME.object.count[1] - ME.base.count[1];
    ME.object.told[0] = ME.object.told[0] || ME.page.v.told[0];
    ME.object.told[1] = ME.object.told[1] || ME.page.v.told[1]
  fi;
  setVersion(ME.base, ME.page.v);
  ME.replay = false
}

/* The base is of a lost time. */
inline compare() {
  if
  :: ME.page.v.deleted || ME.object.deleted || ME.base.deleted ->
    ME.object.deleted = true; merge()
  :: else ->
    if
    :: ME.page.lost.epoch == ME.base.tag.epoch && ME.page.lost.change >= ME.base.tag.change ->
      merge()                                       /* it contains the base, or a later one */
    :: else ->
      if
      :: (ME.page.v.tag.epoch < epoch && ME.page.v.tag.change <= common) ||
         (ME.page.lost.epoch == ME.base.tag.epoch && same(ME.page.repeated, ME.page.v.tag)) ->
        ME.replay = true                            /* the base was made from it: send it again */
      :: else ->                                    /* nothing that both have: this side's value */
        ME.logged = true; ME.replay = false;
        setVersion(ME.base, ME.page.v)
      fi
    fi
  fi
}

inline apply() {
  hit = holds(ME.page, ME.sent.id);
  if
  :: hit -> setCounts(ME.base, ME.sent); ME.knowsBase = true
  :: else ->
    hit = holds(ME.page, ME.older.id);
    if
    :: hit -> setCounts(ME.base, ME.older); ME.knowsBase = true
    :: else
    fi
  fi;
  /* What was sent upon another version can be taken no more. */
  if :: hit || !same(ME.sent.upon, ME.page.v.tag) -> ME.sent.id = 0 :: else fi;
  if :: hit || !same(ME.older.upon, ME.page.v.tag) -> ME.older.id = 0 :: else fi;
  if
  :: ME.knowsBase -> merge()
  :: else -> compare()
  fi;
  set(ME.seen, ME.page.v.tag)
}

/* What is sent, under the ID it was sent by before where it is the same. */
inline build(source) {
  if
  :: asSent
  :: else ->
    if :: ME.sent.id != 0 -> setRequest(ME.older, ME.sent) :: else fi;
    ids++;
    ME.sent.id = ids;
    set(ME.sent.upon, ME.page.v.tag);
    setCounts(ME.sent, source)
  fi;
  set(ME.sent.witness, ME.seen);
  if :: ME.replay -> set(ME.sent.replays, ME.base.tag) :: else -> clear(ME.sent.replays) fi
}

inline answered() {
  if
  :: wasTaken ->
    setCounts(ME.base, ME.sent); set(ME.base.tag, ME.page.v.tag); set(ME.seen, ME.page.v.tag);
    ME.replay = false; ME.sent.id = 0; ME.older.id = 0
  :: !wasTaken && known(ME.sent.witness) -> apply()  /* CONFLICT, with the record inside */
  :: else                                            /* an older state: the next round compares */
  fi
}

proctype device(byte d) {
  bool crashed;
  do
  :: atomic { !quiet -> read() };
     if
     :: atomic { faults > 0 -> faults-- }
     :: atomic { true -> apply() };
        if
        :: atomic { differs || ME.replay ->
             if :: ME.replay -> build(ME.base) :: else -> build(ME.object) fi };
           if
           :: atomic { faults > 0 -> faults-- }                       /* lost */
           :: atomic { faults > 0 && late.id == 0 -> faults--; setRequest(late, ME.sent) }
           :: atomic { true ->
                take(ME.sent); read();
                if :: faults > 0 -> faults--                          /* its answer is lost */
                :: true -> answered() fi }
           fi
        :: else
        fi
     fi
  od
}

proctype user(byte d) {
  atomic { if :: !ME.object.deleted -> ME.object.count[d]++; ME.object.told[d] = true; edited[d] = true :: else fi };
#ifdef DELETES
  if
  :: d == 1 -> atomic { ME.object.deleted = true; wasDeleted = true }
  :: else
  fi
#endif
}

proctype world() {
  do
  :: atomic { late.id != 0 -> take(late); late.id = 0 }
  :: atomic { restores > 0 && !hasBackup -> hasBackup = true;
       setRecord(backup, rec); backupCounter = counter }
  :: atomic { restores > 0 && hasBackup -> restores--;
       setRecord(rec, backup); counter = backupCounter; common = backupCounter; epoch++ }
  od
}

/* At rest: nothing more can happen. */
proctype laws() {
  timeout ->
  assert(same(dev[0].base.tag, rec.v.tag) && same(dev[1].base.tag, rec.v.tag));
  assert(dev[0].object.deleted == rec.v.deleted && dev[1].object.deleted == rec.v.deleted);
  assert(!wasDeleted || rec.v.deleted);
  if
  :: rec.v.deleted || dev[0].logged || dev[1].logged
  :: else ->
    assert(dev[0].object.count[0] == rec.v.count[0] && dev[1].object.count[0] == rec.v.count[0]);
    assert(dev[0].object.count[1] == rec.v.count[1] && dev[1].object.count[1] == rec.v.count[1]);
    assert(rec.v.count[0] >= edited[0] && rec.v.count[1] >= edited[1]);
    assert(rec.v.count[0] == edited[0] && rec.v.count[1] == edited[1])
  fi
}

init {
  atomic {
    rec.v.tag.epoch = 1; rec.v.tag.change = 1;
    set(dev[0].base.tag, rec.v.tag); set(dev[1].base.tag, rec.v.tag);
    set(dev[0].seen, rec.v.tag); set(dev[1].seen, rec.v.tag);
    run device(0); run device(1); run user(0); run user(1); run world(); run laws()
  }
}
