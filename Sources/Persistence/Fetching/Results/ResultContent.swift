internal import Foundation

/// What a request found, in order, and the sections it stands in.
struct ResultContent {
    /// Neighbours of one section name.
    struct Section {
        let name: String
        /// The place of its first item.
        let start: Int
        var count: Int

        var range: Range<Int> { start..<start + count }
    }

    let items: [NSObject]
    let sections: [Section]

    /// One section without a name, which is there also where nothing was found.
    init(_ items: [NSObject]) {
        self.items = items
        sections = [Section(name: "", start: 0, count: items.count)]
    }

    /// A section for each run of one name.
    init(_ items: [NSObject], names: [String]) {
        var runs: [(String, Int)] = []
        for name in names {
            if let last = runs.last, last.0 == name {
                runs[runs.count - 1].1 += 1
            } else {
                runs.append((name, 1))
            }
        }
        self.init(items, runs: runs)
    }

    /// Sections whose names and sizes are known.
    init(_ items: [NSObject], runs: [(name: String, count: Int)]) {
        self.items = items
        var sections: [Section] = []
        var start = 0
        for run in runs {
            sections.append(Section(name: run.name, start: start, count: run.count))
            start += run.count
        }
        self.sections = sections
    }

    /// The number of the section that an item stands in.
    func section(at place: Int) -> Int {
        guard sections.count > 1 else { return 0 }
        var low = 0
        var high = sections.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if sections[middle].start <= place { low = middle } else { high = middle }
        }
        return low
    }

    func indexPath(of place: Int) -> IndexPath {
        let section = section(at: place)
        return IndexPath(indexes: [section, place - sections[section].start])
    }

    /// The place an index path names; nil where there is none.
    func place(at indexPath: IndexPath) -> Int? {
        guard indexPath.count == 2, sections.indices.contains(indexPath[0]) else { return nil }
        let section = sections[indexPath[0]]
        guard (0..<section.count).contains(indexPath[1]) else { return nil }
        return section.start + indexPath[1]
    }

    /// The first section whose name stood further up already.
    var repeatedSection: Section? {
        var seen = Set<String>()
        return sections.first { !seen.insert($0.name).inserted }
    }
}
