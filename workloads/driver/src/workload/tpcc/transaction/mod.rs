//! The five transactions (clauses 2.4 to 2.8), each with its prepared statements.

mod delivery;
mod new_order;
mod order_status;
mod payment;
mod stock_level;

pub use delivery::Delivery;
pub use new_order::NewOrder;
pub use order_status::OrderStatus;
pub use payment::Payment;
pub use stock_level::StockLevel;
