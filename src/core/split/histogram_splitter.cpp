// The splitter of every criterion but absolute error; see node_search.hpp for how a node is
// searched.
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/scratch_pool.hpp"
#include "score/class_scores.hpp"
#include "score/sum_scores.hpp"
#include "split/record_search.hpp"
#include "split/splitter.hpp"

namespace committee {
namespace {

template <typename Score>
class HistogramSplitter final : public Splitter {
  using Adder = typename Score::Adder;
  using Cell = typename Adder::Cell;
  using Memory = SearchScratch<Score>;

 public:
  HistogramSplitter(const FitData& data, const GrowOptions& options)
      : data_(data), options_(options) {
    if (options.random_thresholds && data.records != nullptr) {
      records_.cuts = make_drawn_cuts(*data.dataset);
    }
  }

  Split find(const NodeView& node, std::size_t n_threads, Monitor& monitor) override {
    const RowStatistics& statistics = node.block->statistics;
    const Adder adder(statistics);
    total_.assign(adder.cell_size(), 0);
    if (node.block->has_records()) {
      adder.add_range(total_.data(), node.rows[0], node.rows[0] + node.rows.size());
    } else {
      for (const std::uint32_t row : node.rows) adder.add(total_.data(), row);
    }
    score_.start(statistics, total_.data());
    const Score& score = score_;
    if (score.is_pure(statistics, node.rows, total_.data())) return {};

    const NodeSearch<Score> search(data_, options_, node, adder, score, total_.data(), monitor);
    Split best = draw_.search(node, options_, [&](std::span<const std::uint32_t> features) {
      if (node.block->has_records()) {
        Split found;
        search_records(RecordSearch<Score>{search, memory_, records_, found}, features);
        return found;
      }
      return try_features(
          features, node, n_threads, monitor, [&](std::uint32_t feature, Split& split) {
            pool_.lend([&](Memory& scratch) {
              const CodeColumn& column = search.column(feature);
              search_histogram(FeatureSearch<Score>{search, feature, column, scratch, split});
            });
          });
    });
    if (best.exists()) {
      best.decrease = (best.score + best.penalty - score.score(total_.data())) * score.unit();
    }
    return best;
  }

 private:
  const FitData& data_;
  const GrowOptions& options_;
  std::vector<Cell> total_;
  Score score_;
  FeatureDraw draw_;
  ScratchPool<Memory> pool_;  // for features side by side
  Memory memory_;             // for records, whose features come one after the other
  RecordScratch records_;
};

template <template <Criterion> typename Score>
std::unique_ptr<Splitter> make_class_splitter(const FitData& data, const GrowOptions& options) {
  return visit_class_criterion(
      options.criterion,
      [&]<Criterion kCriterion>(CriterionConstant<kCriterion>) -> std::unique_ptr<Splitter> {
        return std::make_unique<HistogramSplitter<Score<kCriterion>>>(data, options);
      });
}

}  // namespace

std::unique_ptr<Splitter> make_histogram_splitter(const FitData& data, const GrowOptions& options) {
  if (data.statistics.layout == StatisticLayout::kBinaryCounts) {
    return make_class_splitter<BinaryScore>(data, options);
  }
  if (data.statistics.layout == StatisticLayout::kClassCounts) {
    return make_class_splitter<ClassScore>(data, options);
  }
  if (options.criterion == Criterion::kPoisson) {
    return std::make_unique<HistogramSplitter<PoissonScore>>(data, options);
  }
  if (options.criterion == Criterion::kSquaredError) {
    return std::make_unique<HistogramSplitter<SquaredScore>>(data, options);
  }
  throw std::logic_error("no histogram splitter has this criterion");
}

}  // namespace committee
