internal import RecordWire

/// Queries by several keys, along the index of the first: what is equal by it is put in order at
/// once, so that there may be any number of records, and not too many that are equal.
extension QueryRun {
    /// Records that are equal by the first key.
    private struct Step {
        var form: QueryForm?
        var places: [QueryPosition] = []
        /// What was taken last into the page.
        var last: QueryPosition?
    }

    /// Throws LIMIT_EXCEEDED where more records than may be looked at are equal by the first key,
    /// or lie one after another without one that passes.
    func step(
        along way: QueryPlan.Way, _ zone: Zone, after position: QueryPosition?
    ) throws -> Page {
        var page = Page()
        var step = Step()
        var rowsLeft = limits.work.rowsMax
        let isWhole = try scan(zone, way.from(position?.forms.first), after: nil) { entry in
            if entry.form != step.form {
                guard try take(&step, zone, &page) else { return false }
                step.form = entry.form
            }
            guard rowsLeft > 0 else {
                guard step.last != nil else { throw tooMany() }
                page.next = step.last
                return false
            }
            rowsLeft -= 1
            guard let record = try look(at: entry, zone, way, &page) else { return true }
            let place = QueryPosition(
                zone: zone.row.id, forms: plan.order.forms(of: record), name: entry.name)
            guard position.map({ plan.order.precedes($0, place) }) ?? true else { return true }
            guard !isFull(page) else {
                page.next = step.last
                return false
            }
            step.places.append(place)
            return true
        }
        if isWhole { _ = try take(&step, zone, &page) }
        return page
    }

    private func isFull(_ page: Page) -> Bool {
        page.records.count >= limit || page.bytes >= limits.pages.bytesMax
    }

    /// Puts the records of a step in order and into the page. Returns whether all found room.
    private func take(_ step: inout Step, _ zone: Zone, _ page: inout Page) throws -> Bool {
        step.places.sort(by: plan.order.precedes)
        for place in step.places {
            guard !isFull(page) else {
                page.next = step.last
                return false
            }
            guard let row = try transaction.record(named: place.name, in: place.zone) else {
                continue
            }
            try take(row, zone, &page)
            step.last = place
        }
        step.places = []
        return true
    }
}

extension QueryPlan.Way {
    /// What of the way lies at `form` and behind it; all of it for nil.
    fileprivate func from(_ form: QueryForm?) -> Self {
        guard let form else { return self }
        let next = QueryForm(bytes: form.bytes + [0])
        let rest = ranges.compactMap { range -> FormRange? in
            var range = range
            if descending {
                range.upper = min(range.upper ?? next, next)
            } else {
                range.lower = max(range.lower, form)
            }
            guard let upper = range.upper else { return range }
            return range.lower < upper ? range : nil
        }
        return Self(key: key, ranges: rest, descending: descending, isOrdered: isOrdered)
    }
}
